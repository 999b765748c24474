namespace Cairn.Testing;

/// <summary>
/// A directory for the stores of one test. It is in memory if the system has such a place, because tests examine the store and not the disk.
/// </summary>
internal sealed class StoreDirectory : IDisposable
{
    public const long SmallCapacityBytes = 8L << 20;

    private readonly TestDirectory _directory = new(TestDirectory.OfMemory);

    public string Path => _directory.Path;

    public string FilePath => _directory["store.cairn"];

    /// <summary>
    /// Gets options for a small store with the system's clock. The store is not flushed when it is closed. Tests decide when it sweeps expired entries.
    /// </summary>
    public StoreOptions Options => new()
    {
        Path = FilePath,
        CapacityBytes = SmallCapacityBytes,
        FlushOnClose = false,
        RemovesExpired = false,
    };

    public string this[string name] => _directory[name];

    public void Dispose() => _directory.Dispose();
}
