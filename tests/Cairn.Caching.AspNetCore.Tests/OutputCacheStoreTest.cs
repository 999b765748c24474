using System.Text;
using Microsoft.AspNetCore.Http;

namespace Cairn.Caching.AspNetCore.Tests;

/// <summary>A test of an output cache's store over a small file. The test moves its clock.</summary>
public abstract class OutputCacheStoreTest : IDisposable
{
    private protected static readonly TimeSpan Hour = TimeSpan.FromHours(1);

    private readonly StoreDirectory _directory = new();
    private CairnOutputCacheStore? _store;

    internal ManualClock Clock { get; } = new();

    internal string FilePath => _directory.FilePath;

    internal CairnOutputCacheOptions StoreOptions => new()
    {
        Path = FilePath,
        CapacityBytes = StoreDirectory.SmallCapacityBytes,
        FlushOnClose = false,
        TimeProvider = Clock,
        LockTimeout = TimeSpan.FromMilliseconds(50),
    };

    internal HttpContextAccessor Requests { get; } = new();

    internal CairnOutputCacheStore Store => _store ??= new CairnOutputCacheStore(StoreOptions, Requests);

    /// <summary>Opens the file again, as another process does.</summary>
    internal CairnStore OpenBeside() => CairnStore.Open(new StoreOptions { Path = FilePath, FlushOnClose = false, TimeProvider = Clock });

    public void Dispose()
    {
        _store?.Dispose();
        _directory.Dispose();
    }

    internal Task SetAsync(string key, string response, params string[] tags) =>
        Store.SetAsync(key, Encoding.UTF8.GetBytes(response), tags, Hour, CancellationToken.None).AsTask();

    internal async Task<string?> GetAsync(string key) =>
        await Store.GetAsync(key, CancellationToken.None) is { } bytes ? Encoding.UTF8.GetString(bytes) : null;

    internal Task EvictAsync(string tag) => Store.EvictByTagAsync(tag, CancellationToken.None).AsTask();
}
