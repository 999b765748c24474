using Cairn.Caching.Tests.Levels;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>The times at which a value is fresh, an expired one is served, and a new one is created.</summary>
public sealed class FreshnessTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    public static TheoryData<string> Sound => CachesUnderTest.Sound;

    public static TheoryData<string> Shared => CachesUnderTest.Shared;

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Value_is_fresh_until_its_expiration_and_made_again_at_it(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = Minute };
        await cache.SetAsync("key", "old", options);

        caches.Clock.Advance(Minute - TimeSpan.FromMilliseconds(1));
        Assert.Equal("old", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), options));

        caches.Clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.False(cache.TryGet("key", out string? _));
        Assert.Equal("new", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), options));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Value_does_not_outlive_its_expiration_after_the_clock_went_forward_and_back(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = Minute };
        await cache.SetAsync("before", "old", options);
        caches.Clock.Advance(TimeSpan.FromDays(10));
        Assert.False(cache.TryGet("before", out string? _));
        caches.Clock.Advance(-TimeSpan.FromDays(10));

        await cache.SetAsync("key", "old", options);
        caches.Clock.Advance(Minute - Second);
        Assert.Equal("old", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), options));
        caches.Clock.Advance(Second);

        Assert.Equal("new", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), options));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Fail_safe_serves_the_expired_value_throttles_the_factory_and_ends_at_its_limit(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = Minute, FailSafe = 10 * Minute, FailSafeThrottle = 30 * Second };
        int runs = 0;
        await cache.SetAsync("key", "old", options);
        ValueTask<string> ReadAsync() => cache.GetOrCreateAsync<string>(
            "key",
            _ =>
            {
                runs++;
                throw new FormatException("The source is down.");
            },
            options);

        caches.Clock.Advance(Minute);
        Assert.Equal(["old", "old"], new[] { await ReadAsync(), await ReadAsync() });
        Assert.Equal(1, runs);

        caches.Clock.Advance(29 * Second);
        Assert.Equal("old", await ReadAsync());
        Assert.Equal(1, runs);

        caches.Clock.Advance(Second);
        Assert.Equal("old", await ReadAsync());
        Assert.Equal(2, runs);

        caches.Clock.Advance((9 * Minute) + (29 * Second));
        Assert.Equal("old", await ReadAsync());

        caches.Clock.Advance(Second);
        await Assert.ThrowsAsync<FormatException>(async () => await ReadAsync());
        Assert.Equal("new", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), options));
    }

    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Fail_safe_serves_what_the_second_level_kept_to_a_node_that_never_had_it(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache first = caches.Add();
        CairnHybridCache second = caches.Add();
        var options = new CairnEntryOptions { Expiration = Minute, FailSafe = 10 * Minute };
        await first.SetAsync("key", "old", options);
        caches.Clock.Advance(2 * Minute);

        string served = await second.GetOrCreateAsync<string>("key", _ => throw new FormatException("down"), options);

        Assert.Equal("old", served);
        Assert.Equal(1, second.GetStatistics().StaleServed);
        Assert.False((await second.GetAsync<string>("missing", allowStale: true)).IsFound);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Removed_value_is_no_fail_safe(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = Minute, FailSafe = 10 * Minute };
        await cache.SetAsync("removed", "old", options);
        await cache.SetAsync("tagged", "old", options, ["tag"]);
        caches.Clock.Advance(2 * Minute);

        await cache.RemoveAsync("removed");
        await cache.RemoveByTagAsync("tag");

        foreach (string key in new[] { "removed", "tagged" })
        {
            await Assert.ThrowsAsync<FormatException>(
                async () => await cache.GetOrCreateAsync<string>(key, _ => throw new FormatException("down"), options));
        }
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Expired_value_is_served_after_the_soft_time_out_and_the_late_result_is_kept(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = Minute, FailSafe = 10 * Minute, FactorySoftTimeout = Second };
        await cache.SetAsync("key", "old", options);
        caches.Clock.Advance(Minute);
        var factory = new HeldFactory<string>();

        Task<string> read = cache.GetOrCreateAsync("key", token => factory.RunAsync(token), options).AsTask();
        await factory.StartedAsync();
        Assert.False(read.IsCompleted);
        await LevelUnderTest.AdvanceUntilAsync(caches.Clock, () => read.IsCompleted);
        factory.Return("late");
        await LevelUnderTest.UntilAsync(() => cache.TryGet("key", out string? _));

        Assert.Equal("old", await read);
        Assert.Equal("late", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("again"), options));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Hard_time_out_ends_the_wait_without_an_expired_value_and_the_late_result_is_kept(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { FactoryHardTimeout = Second };
        var factory = new HeldFactory<string>();

        Task<string> read = cache.GetOrCreateAsync("key", token => factory.RunAsync(token), options).AsTask();
        await factory.StartedAsync();
        await LevelUnderTest.AdvanceUntilAsync(caches.Clock, () => read.IsCompleted);
        factory.Return("late");
        await LevelUnderTest.UntilAsync(() => cache.TryGet("key", out string? _));

        Assert.Contains("'key'", Assert.IsType<TimeoutException>(read.Exception?.InnerException).Message, StringComparison.Ordinal);
        Assert.Equal("late", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("again"), options));
        Assert.Equal(1, cache.GetStatistics().FactoryTimeouts);
    }

    [Fact]
    public async Task Hard_time_out_holds_for_a_factory_that_blocks()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.None);
        CairnHybridCache cache = caches.Add();
        using var isBlocked = new ManualResetEventSlim();
        using var goOn = new ManualResetEventSlim();

        Task<string> read = cache.GetOrCreateAsync(
            "key",
            _ =>
            {
                isBlocked.Set();
                goOn.Wait(CancellationToken.None);
                return new ValueTask<string>("late");
            },
            new CairnEntryOptions { FactoryHardTimeout = Second }).AsTask();
        isBlocked.Wait(CancellationToken.None);
        await LevelUnderTest.AdvanceUntilAsync(caches.Clock, () => read.IsCompleted);
        goOn.Set();
        await LevelUnderTest.UntilAsync(() => cache.TryGet("key", out string? _));

        Assert.IsType<TimeoutException>(read.Exception?.InnerException);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Hit_after_the_eager_threshold_starts_one_refresh_and_is_served_meanwhile(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = Minute, EagerRefreshThreshold = 0.5 };
        await cache.SetAsync("key", "old", options);
        var factory = new HeldFactory<string>();
        ValueTask<string> ReadAsync() => cache.GetOrCreateAsync("key", token => factory.RunAsync(token), options);

        caches.Clock.Advance(29 * Second);
        Assert.Equal("old", await ReadAsync());
        Assert.Equal(0, cache.GetStatistics().Refreshes);

        caches.Clock.Advance(Second);
        string[] served = [await ReadAsync(), await ReadAsync(), await ReadAsync()];
        await factory.StartedAsync();
        factory.Return("new");
        await LevelUnderTest.UntilAsync(() => cache.TryGet("key", out string? value) && value == "new");

        Assert.Equal(["old", "old", "old"], served);
        Assert.Equal(1, factory.Runs);
        caches.Clock.Advance(45 * Second);
        Assert.Equal("new", (await cache.GetAsync<string>("key")).Value);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Eager_refresh_that_fails_leaves_the_value_and_is_tried_again_after_the_throttle(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = 10 * Minute, EagerRefreshThreshold = 0.1, FailSafeThrottle = Minute };
        await cache.SetAsync("key", "old", options);
        ValueTask<string> ReadAsync() => cache.GetOrCreateAsync<string>("key", _ => throw new FormatException("down"), options);

        caches.Clock.Advance(Minute);
        Assert.Equal("old", await ReadAsync());
        await LevelUnderTest.UntilAsync(() => cache.GetStatistics().FactoryFaults == 1);
        Assert.Equal("old", await ReadAsync());
        Assert.Equal(1, cache.GetStatistics().Refreshes);

        caches.Clock.Advance(Minute);
        Assert.Equal("old", await ReadAsync());
        await LevelUnderTest.UntilAsync(() =>
        {
            // If the failed factory has not ended yet, this hit starts none.
            _ = ReadAsync().AsTask();
            return cache.GetStatistics().FactoryFaults == 2;
        });
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Stale_value_is_served_while_it_is_revalidated_and_not_beyond_its_time(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = Minute, StaleWhileRevalidate = Minute };
        await cache.SetAsync("key", "old", options);
        var factory = new HeldFactory<string>();
        ValueTask<string> ReadAsync() => cache.GetOrCreateAsync("key", token => factory.RunAsync(token), options);

        caches.Clock.Advance(Minute);
        Assert.Equal(["old", "old"], new[] { await ReadAsync(), await ReadAsync() });
        await factory.StartedAsync();
        factory.Return("new");
        await LevelUnderTest.UntilAsync(() => cache.TryGet("key", out string? _));
        Assert.Equal("new", await ReadAsync());
        Assert.Equal(1, factory.Runs);

        caches.Clock.Advance(2 * Minute);
        Assert.Equal("newest", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("newest"), options));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Revalidation_that_fails_is_not_repeated_by_every_reader(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = Minute, StaleWhileRevalidate = 10 * Minute, FailSafeThrottle = Minute };
        await cache.SetAsync("key", "old", options);
        ValueTask<string> ReadAsync() => cache.GetOrCreateAsync<string>("key", _ => throw new FormatException("down"), options);

        caches.Clock.Advance(Minute);
        Assert.Equal("old", await ReadAsync());
        await LevelUnderTest.UntilAsync(() => cache.GetStatistics().FactoryFaults == 1);
        for (int i = 0; i < 10; i++)
        {
            Assert.Equal("old", await ReadAsync());
        }

        Assert.Equal(1, cache.GetStatistics().Refreshes);
        caches.Clock.Advance(10 * Minute);
        await Assert.ThrowsAsync<FormatException>(async () => await ReadAsync());
    }

    [Fact]
    public async Task Jitter_is_added_within_its_bound_and_differs()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.None);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = Minute, Jitter = Minute };
        for (int i = 0; i < 200; i++)
        {
            await cache.SetAsync($"key {i}", i, options);
        }

        int Present() => Enumerable.Range(0, 200).Count(i => cache.TryGet($"key {i}", out int _));
        caches.Clock.Advance(Minute - TimeSpan.FromMilliseconds(1));
        Assert.Equal(200, Present());

        caches.Clock.Advance(30 * Second);
        Assert.InRange(Present(), 60, 140);

        caches.Clock.Advance((30 * Second) + TimeSpan.FromMilliseconds(2));
        Assert.Equal(0, Present());
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Sliding_entry_lives_while_it_is_read_in_any_way_and_ends_at_its_expiration(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = 10 * Minute, SlidingExpiration = Minute };
        Dictionary<string, Func<string, Task<bool>>> reads = new(StringComparer.Ordinal)
        {
            ["create"] = async key => await cache.GetOrCreateAsync(key, _ => new ValueTask<string>("new"), options) == "old",
            ["get"] = async key => (await cache.GetAsync<string>(key)).IsFound,
            ["try"] = key => Task.FromResult(cache.TryGet(key, out string? _)),
            ["many"] = async key => (await cache.GetManyAsync<string>([key])).Single().IsFound,
        };
        foreach (string key in reads.Keys.Append("unread"))
        {
            await cache.SetAsync(key, "old", options);
        }

        for (int i = 0; i < 11; i++)
        {
            caches.Clock.Advance(50 * Second);
            foreach ((string key, Func<string, Task<bool>> read) in reads)
            {
                Assert.True(await read(key), $"{key} after {i + 1} times 50 seconds");
            }
        }

        Assert.False(cache.TryGet("unread", out string? _));
        Assert.False((await cache.GetAsync<string>("unread")).IsFound);
        caches.Clock.Advance(50 * Second);
        Assert.False((await cache.GetAsync<string>("get")).IsFound);
    }

    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Hits_in_the_first_level_keep_a_sliding_entry_alive_in_the_second(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache reader = caches.Add();
        CairnHybridCache other = caches.Add();
        var options = new CairnEntryOptions { Expiration = 10 * Minute, SlidingExpiration = Minute };
        await reader.SetAsync("key", "value", options);

        for (int i = 0; i < 5; i++)
        {
            caches.Clock.Advance(50 * Second);
            Assert.Equal("value", await reader.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), options));
        }

        Assert.Equal("value", (await other.GetAsync<string>("key")).Value);
    }

    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Local_expiration_is_followed_by_a_refill_from_the_second_level(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = 10 * Minute, LocalCacheExpiration = Minute };
        await cache.SetAsync("key", "value", options);

        caches.Clock.Advance(Minute);
        Assert.False(cache.TryGet("key", out string? _));
        Assert.Equal("value", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), options));
        Assert.True(cache.TryGet("key", out string? _));
        Assert.Equal(1, cache.GetStatistics().SharedHits);

        caches.Clock.Advance(9 * Minute);
        Assert.Equal("new", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), options));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Expired_by_hand_value_is_made_again_and_is_there_if_that_fails(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        CairnHybridCache? other = level == CachesUnderTest.None ? null : caches.Add();
        var options = new CairnEntryOptions { FailSafe = 10 * Minute };
        await cache.SetAsync("safe", "old", options);
        await cache.SetAsync("plain", "old");

        await cache.ExpireAsync("safe");
        await cache.ExpireAsync("plain");

        Assert.False((await cache.GetAsync<string>("safe")).IsFound);
        Assert.Equal(new CacheResult<string>(IsFound: true, "old", IsStale: true), await cache.GetAsync<string>("safe", allowStale: true));
        Assert.False((await cache.GetAsync<string>("plain", allowStale: true)).IsFound);
        Assert.False(other is not null && (await other.GetAsync<string>("safe", allowStale: true)).IsFound);
        Assert.Equal("old", await cache.GetOrCreateAsync<string>("safe", _ => throw new FormatException("down"), options));
    }
}
