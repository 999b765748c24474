using Cairn.Engine;

namespace Cairn;

// Keys and values that are objects of maps.
public sealed partial class StoreTransaction
{
    // The values that reads find before the commit; null if the transaction removes the key.
    private readonly Dictionary<TransactionKey, byte[]?> _pending = [];

    // The keys that were read, for the message of a conflict.
    private readonly Dictionary<TransactionRequirement, (string Map, object Key)> _reads = new(ReferenceEqualityComparer.Instance);

    /// <summary>Stores a value of a map when the transaction is committed. It replaces an earlier value, which need not have been read.</summary>
    /// <typeparam name="TKey">The type of the map's keys.</typeparam>
    /// <typeparam name="TValue">The type of the map's values.</typeparam>
    /// <param name="map">A map of the store whose entries are kept.</param>
    /// <param name="key">The key.</param>
    /// <param name="value">The value. It is serialized before the call returns.</param>
    /// <param name="expiration">When the value expires, counted from now. The default is the map's.</param>
    /// <returns>This transaction.</returns>
    /// <exception cref="ArgumentException">The map belongs to another store or evicts its entries, or the key is not valid.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows.</exception>
    /// <exception cref="InvalidOperationException">The transaction has ended: it was committed, or <see cref="Commit"/> has failed.</exception>
    /// <exception cref="ObjectDisposedException">The transaction was disposed, or the store is closed.</exception>
    public StoreTransaction Set<TKey, TValue>(PersistentMap<TKey, TValue> map, TKey key, TValue value, Expiration expiration = default)
        where TKey : notnull
        where TValue : notnull
    {
        ArgumentNullException.ThrowIfNull(map);
        byte[] plain = map.KeyBytes(key);
        byte[] bytes = map.ValueBytes(value);
        Set(map.Collection, plain, bytes, expiration);
        TransactionKey at = KeyOf(map.Collection, plain);
        _pending[at] = _writes[at].Expiration.IsPast ? null : bytes;
        return this;
    }

    /// <summary>Removes a key's value from a map when the transaction is committed.</summary>
    /// <typeparam name="TKey">The type of the map's keys.</typeparam>
    /// <typeparam name="TValue">The type of the map's values.</typeparam>
    /// <param name="map">A map of the store whose entries are kept.</param>
    /// <param name="key">The key.</param>
    /// <returns>This transaction.</returns>
    /// <exception cref="ArgumentException">The map belongs to another store or evicts its entries, or the key is not valid.</exception>
    /// <exception cref="InvalidOperationException">The transaction has ended: it was committed, or <see cref="Commit"/> has failed.</exception>
    /// <exception cref="ObjectDisposedException">The transaction was disposed, or the store is closed.</exception>
    public StoreTransaction Remove<TKey, TValue>(PersistentMap<TKey, TValue> map, TKey key)
        where TKey : notnull
        where TValue : notnull
    {
        ArgumentNullException.ThrowIfNull(map);
        byte[] plain = map.KeyBytes(key);
        Remove(map.Collection, plain);
        _pending[KeyOf(map.Collection, plain)] = null;
        return this;
    }

    /// <summary>
    /// Reads a value of a map within the transaction: what the transaction has set, or else what the map has now. Then the commit fails with a
    /// <see cref="StoreConflictException"/> if another writer has changed, added or removed the value meanwhile.
    /// </summary>
    /// <typeparam name="TKey">The type of the map's keys.</typeparam>
    /// <typeparam name="TValue">The type of the map's values.</typeparam>
    /// <param name="map">A map of the store whose entries are kept.</param>
    /// <param name="key">The key.</param>
    /// <param name="value">The value if the result is true.</param>
    /// <returns>True if there is a value.</returns>
    /// <exception cref="ArgumentException">The map belongs to another store or evicts its entries, or the key is not valid.</exception>
    /// <exception cref="InvalidOperationException">The transaction has ended: it was committed, or <see cref="Commit"/> has failed.</exception>
    /// <exception cref="ObjectDisposedException">The transaction was disposed, or the store is closed.</exception>
    public bool TryGet<TKey, TValue>(PersistentMap<TKey, TValue> map, TKey key, [MaybeNullWhen(false)] out TValue value)
        where TKey : notnull
        where TValue : notnull
    {
        ArgumentNullException.ThrowIfNull(map);
        byte[] plain = map.KeyBytes(key);
        Check(map.Collection, plain);
        if (_pending.TryGetValue(KeyOf(map.Collection, plain), out byte[]? pending))
        {
            value = pending is null ? default : map.ValueOf(pending);
            return pending is not null;
        }

        bool isFound = map.TryRead(plain, out value, out ulong version);
        Require(map.Collection, plain, isFound ? version : 0);
        _reads[_requirements[^1]] = (map.Name, key);
        return isFound;
    }

    /// <summary>Reads a value like <see cref="TryGet"/>.</summary>
    /// <typeparam name="TKey">The type of the map's keys.</typeparam>
    /// <typeparam name="TValue">The type of the map's values.</typeparam>
    /// <param name="map">A map of the store whose entries are kept.</param>
    /// <param name="key">The key.</param>
    /// <returns>The value, or the default of its type if there is none.</returns>
    public TValue? Get<TKey, TValue>(PersistentMap<TKey, TValue> map, TKey key)
        where TKey : notnull
        where TValue : notnull =>
        TryGet(map, key, out TValue? value) ? value : default;

    private static TransactionKey KeyOf(CairnCollection collection, byte[] plain) => new(collection.Number, collection.EngineKeyOf(plain));

    // A requirement of the caller is an expected outcome. A read whose value has changed is a conflict.
    private void ThrowIfConflict(TransactionPlan plan)
    {
        if (plan.Unmet is { } unmet && _reads.TryGetValue(unmet, out (string Map, object Key) read))
        {
            throw new StoreConflictException(read.Map, read.Key, _engine.Memory.File.Path);
        }
    }
}
