using Cairn.Platform;

namespace Cairn;

/// <summary>Opens maps, each in a store file of its own.</summary>
public static class PersistentMap
{
    private const string Name = "map";
    private const string MemoryDirectory = "/dev/shm";

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
    /// <remarks>
    /// A new file has the default capacity of <see cref="StoreOptions"/>. On Linux it takes space on the disk as it fills: a map with one entry has less
    /// than 2 MiB there, with its log (<see cref="StoreOptions.ReservesSpace"/>). The other overload takes any options.
    /// </remarks>
    public static PersistentMap<TKey, TValue> Open<TKey, TValue>(string path, MapOptions<TKey, TValue>? options = null)
        where TKey : notnull
        where TValue : notnull =>
        Open(new StoreOptions { Path = path, ReservesSpace = false, OpenMode = options?.OpenMode ?? StoreOpenMode.OpenOrCreate }, options);

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

    /// <summary>Creates a map in memory, for tests and small programs. It has all operations and the whole behavior of a map in a file.</summary>
    /// <typeparam name="TKey">The type of the keys.</typeparam>
    /// <typeparam name="TValue">The type of the values.</typeparam>
    /// <param name="options">How entries are kept and serialized. Null uses the defaults. The durability has no effect.</param>
    /// <param name="capacityBytes">The size of the map in bytes, 1 MiB to 1 TiB. Default 16 MiB. The memory is taken at once.</param>
    /// <param name="timeProvider">The source of time for expiration. Default <see cref="TimeProvider.System"/>.</param>
    /// <returns>The map. Its content is gone when it is disposed, or when the process ends. No other process can open it.</returns>
    /// <exception cref="StoreException">There is no room. The message names the cause.</exception>
    /// <remarks>
    /// On Linux the map is in <c>/dev/shm</c> if that has room for it, and otherwise in a file without a name in the system's folder for temporary files, as on
    /// other systems.
    /// </remarks>
    public static PersistentMap<TKey, TValue> OpenInMemory<TKey, TValue>(
        MapOptions<TKey, TValue>? options = null, long capacityBytes = 16 << 20, TimeProvider? timeProvider = null)
        where TKey : notnull
        where TValue : notnull
    {
        string directory = HasRoom(MemoryDirectory, capacityBytes) ? MemoryDirectory : Path.GetTempPath();
        string path = Path.Combine(directory, $"cairn-{Guid.NewGuid():N}");
        CairnStore opened = CairnStore.Open(new StoreOptions
        {
            Path = path,
            CapacityBytes = capacityBytes,
            OpenMode = StoreOpenMode.CreateNew,
            FlushOnClose = false,
            TimeProvider = timeProvider ?? TimeProvider.System,
        });
        try
        {
            // Without its name, the file ends with the process, also if that is killed. Windows deletes no open file; it is deleted when the map is disposed.
            if (!OperatingSystem.IsWindows())
            {
                File.Delete(path);
            }

            options ??= new MapOptions<TKey, TValue>();
            return new PersistentMap<TKey, TValue>(
                opened, Name, options with { Durability = Durability.ProcessCrash }, ownsStore: true, isInMemory: true);
        }
        catch
        {
            opened.Discard();
            throw;
        }
    }

    private static bool HasRoom(string directory, long capacityBytes)
    {
        try
        {
            return OperatingSystem.IsLinux() && new DriveInfo(directory).AvailableFreeSpace > capacityBytes;
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return false; // There is no such directory.
        }
    }
}
