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
            DistributedMinBreak = TimeSpan.FromHours(1),
            DistributedMaxBreak = TimeSpan.FromHours(1),
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

    [Theory]
    [InlineData(1)]
    [InlineData(1000)]
    public async Task A_miss_is_one_read_and_one_write_and_a_hit_one_read(int misses)
    {
        var cache = new FaultyDistributedCache();
        await using (CairnHybridCache maker = Create())
        {
            await maker.GetAsync<string>("first");
            for (int i = 0; i < misses; i++)
            {
                await maker.GetOrCreateAsync($"key {i}", _ => new ValueTask<string>("made"));
            }
        }

        string[] made = CallsOfKeys();
        cache.Calls.Clear();
        await using CairnHybridCache reader = Create();
        for (int i = 0; i < misses; i++)
        {
            await reader.GetOrCreateAsync<string>($"key {i}", _ => throw new InvalidOperationException("It is in the second level."));
        }

        Assert.Equal(Enumerable.Range(0, misses).SelectMany(i => new[] { $"get cache:k:key {i}", $"set cache:k:key {i}" }), made);
        Assert.Equal(Enumerable.Range(0, misses).Select(i => $"get cache:k:key {i}"), CallsOfKeys());

        CairnHybridCache Create() => CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = cache });

        string[] CallsOfKeys() =>
            [.. cache.Calls.Where(call => call.Key.Contains(":k:key", StringComparison.Ordinal)).Select(call => $"{call.Operation} {call.Key}")];
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Value_that_is_too_large_for_the_second_level_is_logged_once_with_key_size_and_limit(bool isObject)
    {
        using var log = new RecordingLoggers();
        await using var cache = CairnHybridCache.Create(
            new CairnHybridCacheOptions { DistributedCache = new FaultyDistributedCache(), MaximumPayloadBytes = 100 }, log);
        string large = new('x', 500);

        for (int i = 0; i < 3; i++)
        {
            await (isObject
                ? cache.SetAsync($"large {i}", new List<string> { large }).AsTask()
                : cache.SetAsync($"large {i}", large).AsTask());
        }

        string line = Assert.Single(log.Lines, line => line.Contains("large", StringComparison.Ordinal));
        Assert.StartsWith("Warning 7: The value of 'large 0' has at least 50", line, StringComparison.Ordinal);
        Assert.Contains("limit is 100 (MaximumPayloadBytes)", line, StringComparison.Ordinal);
    }
}
