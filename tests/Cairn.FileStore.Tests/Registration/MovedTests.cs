using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using Cairn.FileStore.Tests.Versions;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Primitives;

#pragma warning disable CA1849, VSTHRD103 // The synchronous members are tested too.

namespace Cairn.FileStore.Tests.Registration;

/// <summary>The interfaces of the readable file over another distributed cache.</summary>
public class MovedTests
{
    [Fact]
    public async Task One_line_moves_strings_and_objects_to_a_distributed_cache()
    {
        await using ServiceProvider provider = Build(FileStoreCacheVersions.Class);
        var cache = provider.GetRequiredService<IDistributedFileStoreCacheClass>();

        await cache.SetAsync("a", "Grüße \ud800");
        await cache.SetManyAsync([new("b", "2"), new("c", "3")], CacheFile.For(TimeSpan.FromHours(1)));
        await cache.SetClassAsync("o", new ClassTests.Inner { MyInt = 7 });
        await cache.RemoveAsync("c");

        Assert.Equal("Grüße \ud800", await cache.GetAsync("a"));
        Assert.Equal(["b"], cache.GetMany(["b", "c"]).Keys);
        Assert.Equal(7, (await cache.GetClassAsync<ClassTests.Inner>("o"))!.MyInt);
        Assert.Equal("2"u8.ToArray(), await provider.GetRequiredService<IDistributedCache>().GetAsync("b"));
    }

    [Fact]
    public async Task Cache_that_lists_its_keys_supports_all_members()
    {
        var shared = new ListingCache();
        await using ServiceProvider provider = Build(FileStoreCacheVersions.Class, shared);
        await using ServiceProvider bytesProvider = Build(FileStoreCacheVersions.Bytes, shared);
        var cache = provider.GetRequiredService<IDistributedFileStoreCacheClass>();
        var bytes = bytesProvider.GetRequiredService<IDistributedFileStoreCacheBytes>();
        cache.SetMany([.. Enumerable.Range(0, 300).Select(i => KeyValuePair.Create($"{i}", $"Grüße {i}"))]);
        cache.SetManyClass<ClassTests.Inner>([new("o", new ClassTests.Inner { MyInt = 7 })]);

        Assert.Equal(301, cache.GetAllKeyValues().Count);
        Assert.Equal("Grüße 42", (await cache.GetAllKeyValuesAsync())["42"]);
        Assert.Equal(7, cache.GetClass<ClassTests.Inner>("o")!.MyInt);
        Assert.Equal("Grüße 42"u8.ToArray(), bytes.GetAllKeyValues()["42"]);
        Assert.Equal(301, (await bytes.GetAllKeyValuesAsync()).Count);

        IChangeToken any = cache.Watch();
        IChangeToken own = cache.Watch("42");
        IChangeToken other = cache.Watch("43");
        IChangeToken unchanged = cache.Watch("44");
        cache.Remove("42");
        shared.Report("43");
        Eventually.Equal((true, true, true, false), () => (any.HasChanged, own.HasChanged, other.HasChanged, unchanged.HasChanged));
        shared.Report(null);
        Eventually.Equal(true, () => unchanged.HasChanged);

        cache.ClearAll([new("new", "1")]);
        Assert.Equal([new("new", "1")], cache.GetAllKeyValues());
        bytes.ClearAll();
        Assert.Empty(cache.GetAllKeyValues());
    }

    [Fact]
    public async Task Callback_that_throws_does_not_end_the_process_over_a_distributed_cache()
    {
        await using ServiceProvider provider = Build(FileStoreCacheVersions.String, new ListingCache());
        var cache = provider.GetRequiredService<IDistributedFileStoreCacheString>();
        int calls = 0;
        using IDisposable subscription = ChangeToken.OnChange(() => cache.Watch("a"), Fail);

        cache.Set("a", "1");
        Eventually.Equal(1, () => Volatile.Read(ref calls));
        cache.Set("a", "2");

        Eventually.Equal(2, () => Volatile.Read(ref calls));

        void Fail()
        {
            Interlocked.Increment(ref calls);
            throw new InvalidOperationException("The callback says so.");
        }
    }

    [Fact]
    public async Task Bytes_have_the_expirations_of_the_distributed_cache()
    {
        await using ServiceProvider provider = Build(FileStoreCacheVersions.Bytes);
        var cache = provider.GetRequiredService<IDistributedFileStoreCacheBytes>();

        await cache.SetAsync("a", [1], new DistributedCacheEntryOptions { SlidingExpiration = TimeSpan.FromHours(1) });
        cache.Refresh("a");
        await cache.RefreshAsync("a");
        Assert.Equal([1], await cache.GetAsync("a"));
        await cache.RemoveAsync("a");

        Assert.Null(cache.Get("a"));
    }

    [Fact]
    public void Operation_that_a_distributed_cache_cannot_do_is_a_clear_error()
    {
        using ServiceProvider provider = Build(FileStoreCacheVersions.String);
        var cache = provider.GetRequiredService<IDistributedFileStoreCacheString>();

        Assert.Contains(nameof(ICacheKeys), Assert.Throws<NotSupportedException>(() => cache.GetAllKeyValues()).Message, StringComparison.Ordinal);
        Assert.Throws<NotSupportedException>(() => cache.ClearAll());
        Assert.Throws<NotSupportedException>(() => cache.Watch());
        Assert.Throws<ArgumentNullException>(() => cache.Set("a", null!));
        Assert.Throws<ArgumentException>(() => Build(FileStoreCacheVersions.IDistributedCache));
    }

    [Fact]
    public void Bytes_are_those_of_the_distributed_cache()
    {
        using ServiceProvider provider = Build(FileStoreCacheVersions.Bytes);
        var cache = provider.GetRequiredService<IDistributedFileStoreCacheBytes>();

        cache.Set("a", [1, 255], new DistributedCacheEntryOptions());

        Assert.Equal([1, 255], provider.GetRequiredService<IDistributedCache>().Get("a"));
        cache.Remove("a");
        Assert.Null(cache.Get("a"));
    }

    private static ServiceProvider Build(FileStoreCacheVersions version, IDistributedCache? shared = null)
    {
        var services = new ServiceCollection();
        services.AddDistributedMemoryCache();
        if (shared is not null)
        {
            services.AddSingleton(shared);
        }

        services.AddDistributedFileStoreCache(options =>
        {
            options.WhichVersion = version;
            options.DistributedCache = provider => provider.GetRequiredService<IDistributedCache>();
        });
        return services.BuildServiceProvider();
    }

    // A cache in memory that lists its keys and reports the changes that the test names.
    private sealed class ListingCache : IDistributedCache, ICacheKeys
    {
        private readonly ConcurrentDictionary<string, byte[]> _entries = new(StringComparer.Ordinal);
        private Action<string?>? _changed;

        public void Report(string? key) => _changed!(key);

        public byte[]? Get(string key) => _entries.GetValueOrDefault(key);

        public Task<byte[]?> GetAsync(string key, CancellationToken token = default) => Task.FromResult(Get(key));

        public void Set(string key, byte[] value, DistributedCacheEntryOptions options) => _entries[key] = value;

        public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default)
        {
            Set(key, value, options);
            return Task.CompletedTask;
        }

        public void Refresh(string key) => throw new NotSupportedException();

        public Task RefreshAsync(string key, CancellationToken token = default) => throw new NotSupportedException();

        public void Remove(string key) => _entries.TryRemove(key, out _);

        public Task RemoveAsync(string key, CancellationToken token = default)
        {
            Remove(key);
            return Task.CompletedTask;
        }

        public async IAsyncEnumerable<string> ListKeysAsync([EnumeratorCancellation] CancellationToken cancellationToken)
        {
            await Task.Yield();
            foreach (string key in _entries.Keys)
            {
                cancellationToken.ThrowIfCancellationRequested();
                yield return key;
            }
        }

        public IDisposable SubscribeToKeys(Action<string?> changed)
        {
            _changed = changed;
            return new CancellationTokenSource();
        }
    }
}
