namespace Cairn;

// Maps in a store.
public sealed unsafe partial class CairnStore
{
    /// <summary>Gets the receiver of removals; null if no map of this opening has ever had a handler.</summary>
    internal MapRemovals? Removals { get; private set; }

    /// <summary>Opens or creates a map: a collection whose keys and values are objects.</summary>
    /// <typeparam name="TKey">The type of the keys.</typeparam>
    /// <typeparam name="TValue">The type of the values.</typeparam>
    /// <param name="name">1 to 192 bytes in UTF-8; the collection's name.</param>
    /// <param name="options">How entries are kept and serialized. Null uses the defaults.</param>
    /// <returns>The map. It stays open as long as the store.</returns>
    /// <exception cref="ArgumentException">The name or an option is outside its range.</exception>
    /// <exception cref="InvalidOperationException">A type has no built-in format, and JSON cannot serialize it.</exception>
    /// <exception cref="StoreException">
    /// The map was created with other types, other serializers or another region; the store already has 127 collections; or its lock could not be acquired
    /// in time.
    /// </exception>
    public PersistentMap<TKey, TValue> Map<TKey, TValue>(string name, MapOptions<TKey, TValue>? options = null)
        where TKey : notnull
        where TValue : notnull
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        return new PersistentMap<TKey, TValue>(this, name, options, ownsStore: false);
    }

    /// <summary>Begins to report expirations and evictions, and returns the receiver. Only the server has another observer, of its own store.</summary>
    internal MapRemovals ReportRemovals()
    {
        lock (_collectionsLock)
        {
            if (Removals is null)
            {
                Removals = new MapRemovals();
                Engine.Observer = IsEncrypted ? null : Removals;
            }

            return Removals;
        }
    }
}
