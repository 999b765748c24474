using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.Tests.Levels;

/// <summary>The whole cache over an IDistributedCache that does not work.</summary>
public class HybridOverFaultyCacheTests
{
    [Fact]
    public async Task While_the_second_level_fails_the_first_one_keeps_what_factories_made_and_what_was_set()
    {
        var cache = new FaultyDistributedCache { Script = (_, _) => Fault.Throw };
        using ServiceProvider services = new ServiceCollection()
            .AddCairnHybridCache(options => options.DistributedCache = cache).Services
            .BuildServiceProvider();
        var hybrid = services.GetRequiredService<Microsoft.Extensions.Caching.Hybrid.HybridCache>();
        int runs = 0;

        for (int i = 0; i < 3; i++)
        {
            Assert.Equal("made", await hybrid.GetOrCreateAsync("made", _ =>
            {
                runs++;
                return ValueTask.FromResult("made");
            }));
        }

        await hybrid.SetAsync("set", "value");
        Assert.Equal("value", await hybrid.GetOrCreateAsync<string>("set", _ => throw new InvalidOperationException("It was set.")));
        Assert.Equal(1, runs);
        cache.Script = (_, _) => Fault.None;
    }
}
