using Cairn.FileStore.Tests.Versions;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.DependencyInjection;

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
    public void What_a_distributed_cache_cannot_do_says_so()
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

    private static ServiceProvider Build(FileStoreCacheVersions version)
    {
        var services = new ServiceCollection();
        services.AddDistributedMemoryCache();
        services.AddDistributedFileStoreCache(options =>
        {
            options.WhichVersion = version;
            options.DistributedCache = provider => provider.GetRequiredService<IDistributedCache>();
        });
        return services.BuildServiceProvider();
    }
}
