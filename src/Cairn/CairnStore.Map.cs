namespace Cairn;

// Maps in a store.
public sealed unsafe partial class CairnStore
{
    /// <summary>Opens or creates a map: a collection whose keys and values are objects.</summary>
    /// <typeparam name="TKey">Of the keys.</typeparam>
    /// <typeparam name="TValue">Of the values.</typeparam>
    /// <param name="name">1 to 192 bytes in UTF-8; the collection's name.</param>
    /// <param name="options">How entries are kept and serialized; null for the defaults.</param>
    /// <returns>The map. It is open as long as the store is.</returns>
    /// <exception cref="ArgumentException">The name or an option is outside its range.</exception>
    /// <exception cref="InvalidOperationException">A type has no built-in form, and JSON cannot serialize it.</exception>
    /// <exception cref="StoreException">
    /// The map was created with other types, serializers or another region; the store has 127 collections already; or its lock could not be had in time.
    /// </exception>
    public PersistentMap<TKey, TValue> Map<TKey, TValue>(string name, MapOptions<TKey, TValue>? options = null)
        where TKey : notnull
        where TValue : notnull
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        return new PersistentMap<TKey, TValue>(this, name, options, ownsStore: false);
    }
}
