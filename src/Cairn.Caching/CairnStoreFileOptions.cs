using Cairn.Caching.Stores;

namespace Cairn.Caching;

/// <summary>Which store file a cache lives in. Caches of one process that name the same file share one opening of it.</summary>
/// <remarks>
/// <see cref="CapacityBytes"/>, <see cref="MaxCapacityBytes"/> and <see cref="AverageEntryBytes"/> describe a file that is created; one
/// that exists keeps its own. Read once, when the cache is made; changes after that have no effect.
/// </remarks>
public class CairnStoreFileOptions
{
    // The defaults of a store are StoreOptions' alone.
    private static readonly StoreOptions Defaults = new() { Path = "default" };

    /// <summary>
    /// The store's file. Its directory must exist, on a local file system. Default null: APPLICATION.cairn in the service's state directory,
    /// if systemd gives one (StateDirectory=), else in the folder cairn of the user's data folder, which is made if need be; APPLICATION is
    /// the name of the program. So all processes of an application share a cache, and different applications do not.
    /// </summary>
    public string? Path { get; set; }

    /// <summary>
    /// A store that the application has open, and closes after the cache. Default null. With it <see cref="Path"/> must be null, and the other
    /// properties of this class have no effect.
    /// </summary>
    public CairnStore? Store { get; set; }

    /// <summary>Size of the file in bytes when it is created, 1 MiB to 1 TiB. Default 256 MiB, as <see cref="StoreOptions.CapacityBytes"/>.</summary>
    public long CapacityBytes { get; set; } = Defaults.CapacityBytes;

    /// <summary>
    /// Size in bytes that the file may grow to, at least <see cref="CapacityBytes"/>, or 0 for no growth. Default 0, as
    /// <see cref="StoreOptions.MaxCapacityBytes"/>.
    /// </summary>
    public long MaxCapacityBytes { get; set; } = Defaults.MaxCapacityBytes;

    /// <summary>
    /// Expected size of an entry in bytes, 32 to 1,048,576; it sizes the index. Default 128, as <see cref="StoreOptions.AverageEntryBytes"/>.
    /// </summary>
    public int AverageEntryBytes { get; set; } = Defaults.AverageEntryBytes;

    /// <summary>
    /// How long a write waits for a process that was stopped while it held a lock, above zero, up to an hour. Default 1 second, as
    /// <see cref="StoreOptions.LockTimeout"/>.
    /// </summary>
    public TimeSpan LockTimeout { get; set; } = Defaults.LockTimeout;

    /// <summary>
    /// Whether the last process to close the file writes it to disk first, so that it is still there after a restart of the machine. Default
    /// true, as <see cref="StoreOptions.FlushOnClose"/>.
    /// </summary>
    public bool FlushOnClose { get; set; } = Defaults.FlushOnClose;

    /// <summary>
    /// What the store is encrypted with, as <see cref="StoreOptions.Encryption"/>. Default null: nothing. Caches that share a file must share
    /// this object, too.
    /// </summary>
    public StoreEncryption? Encryption { get; set; } = Defaults.Encryption;

    /// <summary>Source of time for expiration; tests replace it. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider Clock { get; set; } = Defaults.Clock;

    /// <summary>The store that is asked for.</summary>
    /// <exception cref="ArgumentException">An option is outside its range, or there are both a path and a store.</exception>
    /// <exception cref="IOException">As <see cref="CairnStore.Open"/>.</exception>
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
                Clock = Clock,
            });
        }

        return Path is null
            ? StoreHandle.Borrow(Store)
            : throw new ArgumentException($"{nameof(Path)} is '{Path}', and {nameof(Store)} is the store '{Store.Path}'. Set one of them.", nameof(Path));
    }
}
