using Cairn.Engine;
using Cairn.Keys;

namespace Cairn;

/// <summary>Several writes to kept maps and collections of one store that happen together or not at all.</summary>
/// <remarks>
/// <para>
/// Nothing happens before <see cref="Commit"/>. The transaction remembers the writes, and only the last write of each key counts. Only
/// <see cref="TryGet{TKey, TValue}"/> sees the writes before the commit.
/// </para>
/// <para>
/// If all its collections are logged (<see cref="CollectionOptions.Durability"/>), the transaction happens completely or not at all, even if its process or
/// the machine ends in the middle. For other writers it happens at one moment. A reader that reads several keys one after the other can see some of them
/// before it and some after it.
/// </para>
/// <para>
/// <see cref="Dispose"/> ends the transaction. Without a commit before it, the operations are discarded: a rollback. A transaction holds no locks before
/// its commit.
/// </para>
/// <para>Only one thread at a time can use a transaction.</para>
/// </remarks>
/// <example>
/// <code>
/// using StoreTransaction sale = store.BeginTransaction();
/// sale.Set(stock, "Dune", sale.Get(stock, "Dune") - 1).Remove(orders, 7);
/// sale.Commit(); // throws StoreConflictException if another writer has changed the stock of Dune since it was read
///
/// using StoreTransaction transfer = store.BeginTransaction();
/// transfer.Require(accounts, "ann", annInfo.Version).Set(accounts, "ann", newAnn).Set(accounts, "bob", newBob);
/// if (!transfer.Commit()) { /* another writer has changed Ann's account meanwhile */ }
/// </code>
/// </example>
public sealed partial class StoreTransaction : IDisposable
{
    private readonly StoreEngine _engine;
    private readonly Dictionary<TransactionKey, TransactionWrite> _writes = [];
    private readonly List<TransactionRequirement> _requirements = [];
    private bool _isCommitted;
    private bool _isDisposed;

    internal StoreTransaction(StoreEngine engine) => _engine = engine;

    /// <summary>Stores a value when the transaction is committed. It replaces an earlier value.</summary>
    /// <param name="collection">A kept collection of the store.</param>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">0 bytes to <see cref="CairnStore.MaxValueBytes"/>, copied before the call returns.</param>
    /// <param name="expiration">When the value expires, counted from now. The default is the collection's.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns>This transaction.</returns>
    /// <exception cref="ArgumentException">The collection belongs to another store or is not kept, or the key is not valid.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    /// <exception cref="InvalidOperationException">The transaction has ended: it was committed, or <see cref="Commit"/> has failed.</exception>
    /// <exception cref="ObjectDisposedException">The transaction was disposed, or the store is closed.</exception>
    public StoreTransaction Set(
        CairnCollection collection, CacheKey key, ReadOnlySpan<byte> value, Expiration expiration = default, uint flags = 0)
    {
        byte[] plain = Check(collection, key);
        if (value.Length > collection.LongestValueBytes)
        {
            throw new ArgumentOutOfRangeException(
                nameof(value), value.Length, $"A value in this store has at most {collection.LongestValueBytes:N0} bytes.");
        }

        byte[] bytes = collection.EngineKeyOf(plain);
        ResolvedExpiration resolved = ResolvedExpiration.From(expiration, _engine.Memory, collection.Number, _engine.Clock);
        _writes[new TransactionKey(collection.Number, bytes)] = new TransactionWrite
        {
            Collection = collection.Number,
            Key = bytes,
            Value = collection.EngineValueOf(plain, value, flags, resolved),
            Flags = flags,
            Expiration = resolved,
        };
        return this;
    }

    /// <summary>Removes a key's value when the transaction is committed.</summary>
    /// <param name="collection">A kept collection of the store.</param>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <returns>This transaction.</returns>
    /// <exception cref="ArgumentException">The collection belongs to another store or is not kept, or the key is not valid.</exception>
    /// <exception cref="InvalidOperationException">The transaction has ended: it was committed, or <see cref="Commit"/> has failed.</exception>
    /// <exception cref="ObjectDisposedException">The transaction was disposed, or the store is closed.</exception>
    public StoreTransaction Remove(CairnCollection collection, CacheKey key)
    {
        byte[] bytes = collection.EngineKeyOf(Check(collection, key));
        _writes[new TransactionKey(collection.Number, bytes)] = new TransactionWrite
        {
            Collection = collection.Number,
            Key = bytes,
            Expiration = ResolvedExpiration.Never,
            IsRemoval = true,
        };
        return this;
    }

    /// <summary>Adds a condition: the transaction happens only if a key still has the version that was read.</summary>
    /// <param name="collection">A kept collection of the store.</param>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="version">The version that was read (<see cref="EntryInfo.Version"/>). 0 if the key must have no value.</param>
    /// <returns>This transaction.</returns>
    /// <exception cref="ArgumentException">The collection belongs to another store or is not kept, or the key is not valid.</exception>
    /// <exception cref="InvalidOperationException">The transaction has ended: it was committed, or <see cref="Commit"/> has failed.</exception>
    /// <exception cref="ObjectDisposedException">The transaction was disposed, or the store is closed.</exception>
    public StoreTransaction Require(CairnCollection collection, CacheKey key, ulong version)
    {
        byte[] plain = Check(collection, key);
        _requirements.Add(new TransactionRequirement(collection.Number, collection.EngineKeyOf(plain), version));
        return this;
    }

    /// <summary>Performs all writes at one moment. Returns when they are as durable as their collections promise.</summary>
    /// <returns>False if a condition of <see cref="Require"/> is not met. Then nothing was changed.</returns>
    /// <exception cref="InvalidOperationException">The transaction has ended: it was committed, or <see cref="Commit"/> has failed.</exception>
    /// <exception cref="ObjectDisposedException">The transaction was disposed, or the store is closed.</exception>
    /// <exception cref="StoreFullException">The store has no room for all writes. Nothing was changed.</exception>
    /// <exception cref="StoreBusyException">A lock could not be acquired in time. Nothing was changed.</exception>
    /// <exception cref="StoreReadOnlyException">The disk has failed. The writes can be lost if the machine stops.</exception>
    /// <exception cref="StoreConflictException">Another writer has changed a value that the transaction had read. Nothing was changed.</exception>
    /// <exception cref="StoreException">The transaction is longer than the log allows. Nothing was changed.</exception>
    public bool Commit()
    {
        if (Run(out TransactionPlan plan) || _engine.Commit(plan))
        {
            return true;
        }

        ThrowIfConflict(plan);
        return false;
    }

    /// <summary>Does the same as <see cref="Commit"/>, but blocks no thread while it waits for the disk.</summary>
    /// <param name="cancellationToken">Ends the wait. The committed writes stay.</param>
    /// <returns>False if a condition of <see cref="Require"/> is not met. Then nothing was changed.</returns>
    /// <exception cref="InvalidOperationException">The transaction has ended: it was committed, or <see cref="Commit"/> has failed.</exception>
    /// <exception cref="ObjectDisposedException">The transaction was disposed, or the store is closed.</exception>
    /// <exception cref="StoreFullException">The store has no room for all writes. Nothing was changed.</exception>
    /// <exception cref="StoreBusyException">A lock could not be acquired in time. Nothing was changed.</exception>
    /// <exception cref="StoreReadOnlyException">The disk has failed. The writes can be lost if the machine stops.</exception>
    /// <exception cref="StoreConflictException">Another writer has changed a value that the transaction had read. Nothing was changed.</exception>
    /// <exception cref="StoreException">The transaction is longer than the log allows. Nothing was changed.</exception>
    public async ValueTask<bool> CommitAsync(CancellationToken cancellationToken = default)
    {
        if (Run(out TransactionPlan plan))
        {
            return true;
        }

        if (!CommitDeferring(plan, out long end))
        {
            ThrowIfConflict(plan);
            return false;
        }

        await _engine.WaitAsync(end, cancellationToken).ConfigureAwait(false);
        return true;
    }

    /// <summary>Ends the transaction. If it was not committed, it discards the operations, and the store stays as it is.</summary>
    /// <remarks>Further calls do nothing. Disposing never throws, also if the store is closed.</remarks>
    public void Dispose()
    {
        _isDisposed = true;
        _writes.Clear();
        _requirements.Clear();
        _pending.Clear();
        _reads.Clear();
    }

    private bool CommitDeferring(TransactionPlan plan, out long end)
    {
        end = 0;
        StoreEngine.BeginDeferring();
        try
        {
            return _engine.Commit(plan);
        }
        finally
        {
            end = StoreEngine.EndDeferring();
        }
    }

    // Returns true if the transaction is empty.
    private bool Run(out TransactionPlan plan)
    {
        ThrowIfEnded();
        _engine.ThrowIfClosed();
        _isCommitted = true;
        plan = new TransactionPlan([.. _writes.Values], _requirements);
        return plan.Writes.Count + plan.Requirements.Count == 0;
    }

    private byte[] Check(CairnCollection collection, CacheKey key)
    {
        ArgumentNullException.ThrowIfNull(collection);
        ThrowIfEnded();
        _engine.ThrowIfClosed();
        if (collection.Engine != _engine)
        {
            throw new ArgumentException(
                $"The map or collection '{collection.Name}' is of another store, or of another opening of the store. A transaction changes maps of one store: get " +
                $"them from the store that began it, with {nameof(CairnStore.Map)} or {nameof(CairnStore.Collection)}.",
                nameof(collection));
        }

        if (!_engine.Memory.IsKept(collection.Number))
        {
            throw new ArgumentException(
                $"The map or collection '{collection.Name}' may evict its entries: only those with {nameof(StoreRegion)}.{nameof(StoreRegion.Keep)} take part in " +
                "transactions.",
                nameof(collection));
        }

        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        byte[] bytes = encoded.Bytes.ToArray();
        encoded.Release();
        return bytes;
    }

    private void ThrowIfEnded()
    {
        if (_isDisposed)
        {
            throw new ObjectDisposedException(nameof(StoreTransaction), "The transaction was disposed. Begin another one.");
        }

        if (_isCommitted)
        {
            throw new InvalidOperationException("The transaction has ended, because Commit was called. Begin another one.");
        }
    }

    // Compares keys by their bytes.
    private readonly record struct TransactionKey(uint Collection, byte[] Bytes)
    {
        public bool Equals(TransactionKey other) => Collection == other.Collection && Bytes.AsSpan().SequenceEqual(other.Bytes);

        public override int GetHashCode()
        {
            var hash = default(HashCode);
            hash.Add(Collection);
            hash.AddBytes(Bytes);
            return hash.ToHashCode();
        }
    }
}
