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

    [Theory]
    [InlineData(1, false)]
    [InlineData(int.MaxValue, true)]
    public async Task Second_level_is_left_alone_after_as_many_failures_as_the_options_say(int breakAfterFailures, bool isAskedAgain)
    {
        var cache = new FaultyDistributedCache { Script = (_, _) => Fault.Throw };
        await using var hybrid = CairnHybridCache.Create(new CairnHybridCacheOptions
        {
            DistributedCache = cache,
            DistributedBreakAfterFailures = breakAfterFailures,
            DistributedFirstBreak = TimeSpan.FromHours(1),
            DistributedLongestBreak = TimeSpan.FromHours(1),
        });
        await hybrid.GetAsync<string>("one");
        int calls = cache.Calls.Count;

        await hybrid.GetAsync<string>("two");

        Assert.Equal(isAskedAgain, cache.Calls.Count > calls);
    }

    [Theory]
    [InlineData(0, long.MaxValue, false)]
    [InlineData(int.MaxValue, 0, false)]
    [InlineData(1, long.MaxValue, true)]
    public async Task As_much_as_the_options_say_waits_to_be_written_later(int writes, long bytes, bool isWritten)
    {
        var cache = new FaultyDistributedCache
        {
            Script = (operation, key) => operation == "set" && key.Contains("book:42", StringComparison.Ordinal) ? Fault.Throw : Fault.None,
        };
        var hybrid = CairnHybridCache.Create(new CairnHybridCacheOptions
        {
            DistributedCache = cache,
            DistributedBreakAfterFailures = int.MaxValue,
            DistributedMaxPendingWrites = writes,
            DistributedMaxPendingBytes = bytes,
        });
        await hybrid.SetAsync("book:42", "Dune");

        cache.Script = (_, _) => Fault.None;
        await hybrid.DisposeAsync();

        Assert.Equal(isWritten, cache.Content.Keys.Any(key => key.Contains("book:42", StringComparison.Ordinal)));
    }
}
