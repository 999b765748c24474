using Cairn.Platform;

namespace Cairn;

/// <summary>Opens maps, each in a store file of its own.</summary>
public static class PersistentMap
{
    private const string Name = "map";

    /// <summary>Opens the map in a file, or creates it.</summary>
    /// <typeparam name="TKey">The type of the keys.</typeparam>
    /// <typeparam name="TValue">The type of the values.</typeparam>
    /// <param name="path">The file. Its directory must exist, on a local file system.</param>
    /// <param name="options">How entries are kept and serialized. Null uses the defaults.</param>
    /// <returns>The map. Dispose it to close the file. Otherwise the file is closed when the process ends.</returns>
    /// <exception cref="StoreException">
    /// The file could not be opened or created, or it contains a map of other types. The message names the cause. The method also throws the exceptions of
    /// <see cref="CairnStore.Open"/>.
    /// </exception>
    /// <remarks>A new file has the default capacity of <see cref="StoreOptions"/>. The other overload takes any capacity.</remarks>
    public static PersistentMap<TKey, TValue> Open<TKey, TValue>(string path, MapOptions<TKey, TValue>? options = null)
        where TKey : notnull
        where TValue : notnull =>
        Open(new StoreOptions { Path = path }, options);

    /// <summary>Opens the map in a file, or creates it.</summary>
    /// <typeparam name="TKey">The type of the keys.</typeparam>
    /// <typeparam name="TValue">The type of the values.</typeparam>
    /// <param name="store">The file and its size.</param>
    /// <param name="options">How entries are kept and serialized. Null uses the defaults.</param>
    /// <returns>The map. Dispose it to close the file. Otherwise the file is closed when the process ends.</returns>
    /// <exception cref="StoreException">The same as for the other overload.</exception>
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
