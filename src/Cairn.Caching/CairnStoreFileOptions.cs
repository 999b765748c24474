using Cairn.Caching.Stores;

namespace Cairn.Caching;

/// <summary>The store file of a cache. Caches of one process that name the same file share one opening of it.</summary>
/// <remarks>
/// <see cref="CapacityBytes"/>, <see cref="MaxCapacityBytes"/> and <see cref="AverageEntryBytes"/> apply to a new file only; an existing
/// file keeps its own. The options are read once, when the cache is created; later changes have no effect.
/// </remarks>
public class CairnStoreFileOptions
{
    // Only StoreOptions defines the defaults of a store.
    private static readonly StoreOptions Defaults = new() { Path = "default" };

    /// <summary>
    /// The store's file. Its directory must exist, on a local file system. Default null: APPLICATION.cairn, where APPLICATION is the name of
    /// the program. It is in the service's state directory if systemd provides one (StateDirectory=), otherwise in the folder cairn of the
    /// user's data folder, which is created if needed. So all processes of an application share a cache, and different applications do not.
    /// </summary>
    public string? Path { get; set; }

    /// <summary>
    /// A store that the application has opened, and closes after the cache. Default null. If set, <see cref="Path"/> must be null, and the
    /// other properties of this class have no effect.
    /// </summary>
    public CairnStore? Store { get; set; }

    /// <summary>The size of a new file in bytes, 1 MiB to 1 TiB. Default 256 MiB, as <see cref="StoreOptions.CapacityBytes"/>.</summary>
    public long CapacityBytes { get; set; } = Defaults.CapacityBytes;

    /// <summary>
    /// The size in bytes up to which the file may grow, at least <see cref="CapacityBytes"/>, or 0 for no growth. Default 0, as
    /// <see cref="StoreOptions.MaxCapacityBytes"/>.
    /// </summary>
    public long MaxCapacityBytes { get; set; } = Defaults.MaxCapacityBytes;

    /// <summary>
    /// The expected size of an entry in bytes, 32 to 1,048,576. It determines the size of the index. Default 128, as
    /// <see cref="StoreOptions.AverageEntryBytes"/>.
    /// </summary>
    public int AverageEntryBytes { get; set; } = Defaults.AverageEntryBytes;

    /// <summary>
    /// How long a write waits for a lock that a stopped process holds: above zero, up to an hour. Default 1 second, as
    /// <see cref="StoreOptions.LockTimeout"/>.
    /// </summary>
    public TimeSpan LockTimeout { get; set; } = Defaults.LockTimeout;

    /// <summary>
    /// Whether the last process to close the file first writes it to disk, so that the entries survive a restart of the machine. Default
    /// true, as <see cref="StoreOptions.FlushOnClose"/>.
    /// </summary>
    public bool FlushOnClose { get; set; } = Defaults.FlushOnClose;

    /// <summary>
    /// The encryption of the store, as <see cref="StoreOptions.Encryption"/>. Default null: none. Caches that share a file must also share
    /// this object.
    /// </summary>
    public StoreEncryption? Encryption { get; set; } = Defaults.Encryption;

    /// <summary>The source of time for expiration; tests replace it. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider TimeProvider { get; set; } = Defaults.TimeProvider;

    /// <summary>Opens the store that the options describe.</summary>
    /// <exception cref="ArgumentException">An option is outside its range, or both a path and a store are set.</exception>
    /// <exception cref="IOException">The store cannot be opened; see <see cref="CairnStore.Open"/>.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read and write the file.</exception>
    internal StoreHandle OpenStore()
    {
        if (Store is null)
        {
            return SharedStores.Open(new StoreOptions
            {
                Path = Path ?? DefaultStoreFile.Path(AppDomain.CurrentDomain.FriendlyName, Environment.GetEnvironmentVariable),
                CapacityBytes = CapacityBytes,
                MaxCapacityBytes = MaxCapacityBytes,
                AverageEntryBytes = AverageEntryBytes,
                LockTimeout = LockTimeout,
                FlushOnClose = FlushOnClose,
                Encryption = Encryption,
                TimeProvider = TimeProvider,
            });
        }

        return Path is null
            ? StoreHandle.Borrow(Store)
            : throw new ArgumentException($"{nameof(Path)} is '{Path}', and {nameof(Store)} is the store '{Store.Path}'. Set one of them.", nameof(Path));
    }
}
