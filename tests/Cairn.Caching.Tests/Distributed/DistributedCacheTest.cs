using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching.Tests.Distributed;

/// <summary>A cache over a small store file whose clock the test moves.</summary>
public abstract class DistributedCacheTest : IDisposable
{
    private readonly StoreDirectory _directory = new();
    private CairnDistributedCache? _cache;

    internal ManualClock Clock { get; } = new();

    internal string FilePath => _directory.FilePath;

    internal string DirectoryPath => _directory.Path;

    internal CairnDistributedCacheOptions CacheOptions => new()
    {
        Path = FilePath,
        CapacityBytes = StoreDirectory.SmallCapacityBytes,
        FlushOnClose = false,
        TimeProvider = Clock,
        LockTimeout = TimeSpan.FromMilliseconds(50),
    };

    internal CairnDistributedCache Cache => _cache ??= new CairnDistributedCache(CacheOptions);

    public void Dispose()
    {
        _cache?.Dispose();
        _directory.Dispose();
    }

    internal static DistributedCacheEntryOptions In(TimeSpan time) => new() { AbsoluteExpirationRelativeToNow = time };

    internal static DistributedCacheEntryOptions Sliding(TimeSpan interval) => new() { SlidingExpiration = interval };

    internal void Reopen()
    {
        _cache?.Dispose();
        _cache = null;
    }
}
