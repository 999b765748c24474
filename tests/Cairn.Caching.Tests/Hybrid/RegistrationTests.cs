using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>A cache that is registered in one line works with each second level.</summary>
public sealed class RegistrationTests
{
    public static TheoryData<string> Levels => ["none", "memory", "store"];

    [Theory]
    [MemberData(nameof(Levels))]
    public async Task Registered_cache_runs_a_factory_once(string level)
    {
        using var directory = new StoreDirectory();
        var services = new ServiceCollection();
        if (level == "memory")
        {
            services.AddDistributedMemoryCache();
        }

        services.AddCairnHybridCache(options =>
        {
            if (level == "store")
            {
                options.UseStoreFile(directory.FilePath);
            }
        });
        await using ServiceProvider provider = services.BuildServiceProvider();
        HybridCache cache = provider.GetRequiredService<HybridCache>();
        int runs = 0;

        string first = await cache.GetOrCreateAsync("key", _ => new ValueTask<string>($"value {++runs}"));
        string second = await cache.GetOrCreateAsync("key", _ => new ValueTask<string>($"value {++runs}"));
        await cache.RemoveAsync("key");
        string third = await cache.GetOrCreateAsync("key", _ => new ValueTask<string>($"value {++runs}"), tags: ["a"]);
        await cache.RemoveByTagAsync("a");
        string fourth = await cache.GetOrCreateAsync("key", _ => new ValueTask<string>($"value {++runs}"), tags: ["a"]);

        Assert.Equal(["value 1", "value 1", "value 2", "value 3"], new[] { first, second, third, fourth });
    }
}
