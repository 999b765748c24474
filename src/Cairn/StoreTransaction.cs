using Cairn.Engine;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn;

/// <summary>Several writes to kept collections of one store that happen together or not at all.</summary>
/// <remarks>
/// <para>Nothing happens before <see cref="Commit"/>: writes are remembered, each key's last one counts. Reading goes on as ever, and
/// does not see them.</para>
/// <para>
/// If all its collections are logged (<see cref="CollectionOptions.Durability"/>), it happens as a whole or not at all also if its process, or
/// the machine, ends in the middle. Other writers see it at one moment; who reads several keys one after the other may see
/// some of them from before and some from after it.
/// </para>
/// <para>One thread at a time may use a transaction.</para>
/// </remarks>
/// <example>
/// <code>
/// StoreTransaction transfer = store.BeginTransaction();
/// transfer.Require(accounts, "ann", annInfo.Version).Set(accounts, "ann", newAnn).Set(accounts, "bob", newBob);
/// if (!transfer.Commit()) { /* somebody changed Ann's account meanwhile */ }
/// </code>
/// </example>
public sealed class StoreTransaction
{
    private readonly StoreEngine _engine;
    private readonly Dictionary<TransactionKey, TransactionWrite> _writes = [];
    private readonly List<TransactionRequirement> _requirements = [];
    private bool _isCommitted;

    internal StoreTransaction(StoreEngine engine) => _engine = engine;

    /// <summary>Stores a value when the transaction is committed, replacing any earlier one.</summary>
    /// <param name="collection">A kept collection of the store.</param>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="value">0 bytes to <see cref="CairnStore.MaxValueBytes"/>, copied before the call returns.</param>
    /// <param name="expiration">When it expires, counted from now; the default is the collection's.</param>
    /// <param name="flags">32 bits that the store does not interpret.</param>
    /// <returns>This transaction.</returns>
    /// <exception cref="ArgumentException">The collection is of another store or not kept, or the key is not one.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    /// <exception cref="InvalidOperationException">It was committed already.</exception>
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
    /// <exception cref="ArgumentException">The collection is of another store or not kept, or the key is not one.</exception>
    /// <exception cref="InvalidOperationException">It was committed already.</exception>
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

    /// <summary>Lets the transaction happen only if a key is then as it was when it was read.</summary>
    /// <param name="collection">A kept collection of the store.</param>
    /// <param name="key">1 to 65,536 bytes, or text.</param>
    /// <param name="version">The version that was read (<see cref="EntryInfo.Version"/>); 0 if the key must have no value.</param>
    /// <returns>This transaction.</returns>
    /// <exception cref="ArgumentException">The collection is of another store or not kept, or the key is not one.</exception>
    /// <exception cref="InvalidOperationException">It was committed already.</exception>
    public StoreTransaction Require(CairnCollection collection, CacheKey key, ulong version)
    {
        byte[] plain = Check(collection, key);
        _requirements.Add(new TransactionRequirement(collection.Number, collection.EngineKeyOf(plain), version));
        return this;
    }

    /// <summary>Does all of it, at one moment, and returns when it is as durable as its collections promise.</summary>
    /// <returns>False, with nothing changed, if a requirement did not hold.</returns>
    /// <exception cref="InvalidOperationException">It was committed already.</exception>
    /// <exception cref="StoreFullException">There is no room for all of it. Nothing was changed.</exception>
    /// <exception cref="StoreBusyException">A lock could not be had in time. Nothing was changed.</exception>
    /// <exception cref="StoreReadOnlyException">The disk has failed: what was written may be lost if the machine stops.</exception>
    /// <exception cref="StoreException">It is longer than the log can take. Nothing was changed.</exception>
    public bool Commit() => Run(out TransactionPlan plan) || _engine.Commit(plan);

    /// <summary>As <see cref="Commit"/>, without blocking a thread while the disk is waited for.</summary>
    /// <param name="cancellationToken">Ends the waiting; what was committed stays.</param>
    /// <returns>False, with nothing changed, if a requirement did not hold.</returns>
    /// <exception cref="InvalidOperationException">It was committed already.</exception>
    /// <exception cref="StoreFullException">There is no room for all of it. Nothing was changed.</exception>
    /// <exception cref="StoreBusyException">A lock could not be had in time. Nothing was changed.</exception>
    /// <exception cref="StoreReadOnlyException">The disk has failed: what was written may be lost if the machine stops.</exception>
    /// <exception cref="StoreException">It is longer than the log can take. Nothing was changed.</exception>
    public async ValueTask<bool> CommitAsync(CancellationToken cancellationToken = default)
    {
        if (Run(out TransactionPlan plan))
        {
            return true;
        }

        if (!CommitDeferring(plan, out long end))
        {
            return false;
        }

        await _engine.WaitAsync(plan.Writes.Count > 0 ? plan.Writes[0].Collection : 0, end, cancellationToken).ConfigureAwait(false);
        return true;
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

    // True if there is nothing to be done.
    private bool Run(out TransactionPlan plan)
    {
        ThrowIfCommitted();
        _engine.ThrowIfClosed();
        _isCommitted = true;
        plan = new TransactionPlan([.. _writes.Values], _requirements);
        return plan.Writes.Count + plan.Requirements.Count == 0;
    }

    private byte[] Check(CairnCollection collection, CacheKey key)
    {
        ArgumentNullException.ThrowIfNull(collection);
        ThrowIfCommitted();
        _engine.ThrowIfClosed();
        if (collection.Engine != _engine)
        {
            throw new ArgumentException("The collection is of another store, or another opening of the store.", nameof(collection));
        }

        if (!_engine.Memory.IsKept(collection.Number))
        {
            throw new ArgumentException(
                $"The collection '{collection.Name}' may evict its entries: only collections with {nameof(StoreRegion)}.{nameof(StoreRegion.Keep)} take part in " +
                "transactions.",
                nameof(collection));
        }

        Span<byte> buffer = stackalloc byte[EncodedKey.StackBytes];
        var encoded = new EncodedKey(key, buffer);
        byte[] bytes = encoded.Bytes.ToArray();
        encoded.Release();
        return bytes;
    }

    private void ThrowIfCommitted()
    {
        if (_isCommitted)
        {
            throw new InvalidOperationException("The transaction was committed already. Begin another.");
        }
    }

    // A key by its bytes.
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
