using Cairn.Platform;

namespace Cairn;

/// <summary>Opens maps that have a store's file to themselves.</summary>
public static class PersistentMap
{
    private const string Name = "map";

    /// <summary>Opens the map in a file, or creates it.</summary>
    /// <typeparam name="TKey">Of the keys.</typeparam>
    /// <typeparam name="TValue">Of the values.</typeparam>
    /// <param name="path">The file. Its directory must exist, on a local file system.</param>
    /// <param name="options">How entries are kept and serialized; null for the defaults.</param>
    /// <returns>The map. Dispose it to close the file; else it is closed when the process ends.</returns>
    /// <exception cref="StoreException">
    /// The file could not be opened or created, or holds a map of other keys or values; the message tells. What <see cref="CairnStore.Open"/> throws
    /// is thrown, too.
    /// </exception>
    /// <remarks>The file has the default capacity of <see cref="StoreOptions"/> when it is created; the other form takes any.</remarks>
    public static PersistentMap<TKey, TValue> Open<TKey, TValue>(string path, MapOptions<TKey, TValue>? options = null)
        where TKey : notnull
        where TValue : notnull =>
        Open(new StoreOptions { Path = path }, options);

    /// <summary>Opens the map in a file, or creates it.</summary>
    /// <typeparam name="TKey">Of the keys.</typeparam>
    /// <typeparam name="TValue">Of the values.</typeparam>
    /// <param name="store">The file, and how large it is made.</param>
    /// <param name="options">How entries are kept and serialized; null for the defaults.</param>
    /// <returns>The map. Dispose it to close the file; else it is closed when the process ends.</returns>
    /// <exception cref="StoreException">As for the other form.</exception>
    public static PersistentMap<TKey, TValue> Open<TKey, TValue>(StoreOptions store, MapOptions<TKey, TValue>? options = null)
        where TKey : notnull
        where TValue : notnull
    {
        CairnStore opened = CairnStore.Open(store);
        try
        {
            var map = new PersistentMap<TKey, TValue>(opened, Name, options, ownsStore: true);
            CloseAtExit.Register(opened);
            return map;
        }
        catch
        {
            opened.Dispose();
            throw;
        }
    }
}
