using System.Diagnostics;
using Cairn.Caching.Tests.Levels;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>Behaviour that other hybrid caches get wrong, over every second level, including faulty ones.</summary>
public sealed class ContractTests
{
    public static TheoryData<string> All => CachesUnderTest.All;

    public static TheoryData<string> Sound => CachesUnderTest.Sound;

    public static TheoryData<string> Shared => CachesUnderTest.Shared;

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(All))]
    public async Task Tag_removed_while_the_factory_runs_has_the_value_made_again(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache cache = caches.AddHybrid();
        var factory = new HeldFactory<string>();

        Task<string> first = cache.GetOrCreateAsync("key", token => factory.RunAsync(token), tags: ["tag"]).AsTask();
        await factory.StartedAsync();
        await cache.RemoveByTagAsync("tag");
        factory.Return("old");

        Assert.Equal("old", await first);
        Assert.Equal("new", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), tags: ["tag"]));
    }

    [RunsOverMicrosofts]
    [Fact]
    public async Task Tagged_value_is_kept_in_the_first_level_while_the_second_cannot_return_stamps_and_goes_with_its_tag()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.Throwing);
        HybridCache cache = caches.AddHybrid();

        await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("first"), tags: ["tag"]);
        string hit = await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("second"), tags: ["tag"]);
        await cache.RemoveByTagAsync("tag");
        string made = await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("third"), tags: ["tag"]);

        Assert.Equal(["first", "third"], new[] { hit, made });
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(All))]
    public async Task Key_removed_while_the_factory_runs_has_the_value_made_again(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache cache = caches.AddHybrid();
        var factory = new HeldFactory<string>();

        Task<string> first = cache.GetOrCreateAsync("key", token => factory.RunAsync(token)).AsTask();
        await factory.StartedAsync();
        await cache.RemoveAsync("key");
        factory.Return("old");

        Assert.Equal("old", await first);
        Assert.Equal("new", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new")));
    }

    [Theory]
    [MemberData(nameof(All))]
    public async Task Caller_after_a_removal_does_not_join_the_factory_that_ran_before_it(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var before = new HeldFactory<string>();
        var after = new HeldFactory<string>();

        Task<string> first = cache.GetOrCreateAsync("key", token => before.RunAsync(token)).AsTask();
        await before.StartedAsync();
        await cache.RemoveAsync("key");
        Task<string> second = cache.GetOrCreateAsync("key", token => after.RunAsync(token)).AsTask();
        await after.StartedAsync();
        after.Return("new");
        before.Return("old");

        Assert.Equal("old", await first);
        Assert.Equal("new", await second);
        Assert.Equal("new", caches.IsSound ? (await cache.GetAsync<string>("key")).Value : "new");
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(All))]
    public async Task Value_set_while_the_factory_runs_wins(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache cache = caches.AddHybrid();
        var factory = new HeldFactory<string>();

        Task<string> first = cache.GetOrCreateAsync("key", token => factory.RunAsync(token)).AsTask();
        await factory.StartedAsync();
        await cache.SetAsync("key", "set");
        factory.Return("made");

        Assert.Equal("made", await first);
        Assert.Equal("set", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("made again")));
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Tag_removed_on_one_node_is_removed_from_the_other_that_had_it_cached(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache a = caches.AddHybrid();
        HybridCache b = caches.AddHybrid();
        await a.GetOrCreateAsync("key", _ => new ValueTask<string>("old"), tags: ["tag"]);
        await a.GetOrCreateAsync("key", _ => new ValueTask<string>("hit"), tags: ["tag"]);

        await b.RemoveByTagAsync("tag");

        Assert.Equal("new", await a.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), tags: ["tag"]));
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Value_made_after_its_tag_was_removed_is_shared_again(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache a = caches.AddHybrid();
        HybridCache b = caches.AddHybrid();
        await a.GetOrCreateAsync("key", _ => new ValueTask<string>("old"), tags: ["tag"]);
        await a.RemoveByTagAsync("tag");

        Assert.Equal("new", await a.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), tags: ["tag"]));
        Assert.Equal("new", await b.GetOrCreateAsync("key", _ => new ValueTask<string>("newest"), tags: ["tag"]));
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Cold_node_does_not_serve_what_was_removed_by_tag_before_it_started(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache first = caches.AddHybrid();
        await first.GetOrCreateAsync("key", _ => new ValueTask<string>("old"), tags: ["tag"]);
        await first.RemoveByTagAsync("tag");

        HybridCache cold = caches.AddHybrid();

        Assert.Equal("new", await cold.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), tags: ["tag"]));
    }

    [Fact]
    public async Task Cold_node_waits_for_a_slow_second_level_to_return_the_stamps_of_tags()
    {
        await using var caches = new CachesUnderTest("slow");
        CairnHybridCache first = caches.Add();
        await first.GetOrCreateAsync("key", _ => new ValueTask<string>("old"), tags: ["tag"]);
        string[] written = [.. caches.Faulty.Content.Keys];
        await first.RemoveByTagAsync("tag");
        await first.DisposeAsync();
        CairnHybridCache cold = caches.Add();
        caches.Faulty.Script = (operation, _) => operation == "get" ? Fault.Hang : Fault.None;

        Task<string> read = cold.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), tags: ["tag"]).AsTask();
        while (!read.IsCompleted)
        {
            await LevelUnderTest.UntilAsync(() => caches.Faulty.Hanging > 0 || read.IsCompleted);
            caches.Faulty.LetGo();
        }

        Assert.True(written.Length > 1);
        Assert.Equal("new", await read);
    }

    [Theory]
    [MemberData(nameof(All))]
    public async Task Factory_sees_the_callers_async_locals_and_activity_with_a_cancellable_token(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var local = new AsyncLocal<string> { Value = "caller" };
        using var activity = new Activity("caller");
        activity.Start();
        using var cancellation = new CancellationTokenSource();

        foreach (CancellationToken token in new[] { cancellation.Token, CancellationToken.None })
        {
            (string? seenLocal, string? seenActivity) = await cache.GetOrCreateAsync(
                $"key {token.CanBeCanceled}",
                async _ =>
                {
                    await Task.Yield();
                    return (local.Value, Activity.Current?.Id);
                },
                new CairnEntryOptions { FactoryHardTimeout = token.CanBeCanceled ? TimeSpan.FromMinutes(1) : null },
                cancellationToken: token);

            Assert.Equal("caller", seenLocal);
            Assert.Equal(activity.Id, seenActivity);
        }
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(All))]
    public async Task Values_that_a_factory_sets_in_its_context_stay_there(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache cache = caches.AddHybrid();
        var local = new AsyncLocal<string> { Value = "caller" };
        ValueTask<string> SetAndThrow(CancellationToken token)
        {
            local.Value = "factory";
            throw new FormatException("no");
        }

        ValueTask<string> made = cache.GetOrCreateAsync("made", _ =>
        {
            local.Value = "factory";
            return new ValueTask<string>("value");
        });
        string? afterMade = local.Value;
        ValueTask<string> failed = cache.GetOrCreateAsync("failed", SetAndThrow);
        string? afterFailed = local.Value;
        await Assert.ThrowsAsync<FormatException>(async () => await failed);

        Assert.Equal("value", await made);
        Assert.Equal(["caller", "caller", "caller"], new[] { afterMade, afterFailed, local.Value });

        // The caller does not count as running inside the factory either.
        await cache.RemoveAsync("made");
        Assert.Equal("again", await cache.GetOrCreateAsync("made", _ => new ValueTask<string>("again")));
    }

    [RunsOverMicrosofts]
    [Theory]
    [InlineData("get", Fault.Hang)]
    [InlineData("get", Fault.HangIgnoringCancellation)]
    [InlineData("get", Fault.HangSynchronously)]
    [InlineData("set", Fault.Hang)]
    [InlineData("set", Fault.HangIgnoringCancellation)]
    [InlineData("set", Fault.HangSynchronously)]
    [InlineData("remove", Fault.Hang)]
    public async Task Second_level_that_hangs_delays_no_caller_beyond_the_time_out(string hanging, object fault)
    {
        await using var caches = new CachesUnderTest("hangs");
        HybridCache cache = caches.AddHybrid();
        caches.Faulty.Script = (operation, _) => operation == hanging ? (Fault)fault : Fault.None;

        Task<string> read = WorkAsync();
        await LevelUnderTest.AdvanceUntilAsync(caches.Clock, () => read.IsCompleted);

        Assert.Equal("new", await read);
        Assert.True(caches.Clock.Now < new ManualClock().Now.AddSeconds(30));
        caches.Faulty.Script = (_, _) => Fault.None;
        caches.Faulty.LetGo();

        async Task<string> WorkAsync()
        {
            await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("old"));
            await cache.RemoveAsync("key");
            return await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"));
        }
    }

    [Theory]
    [InlineData("get", Fault.Throw)]
    [InlineData("get", Fault.ThrowSynchronously)]
    [InlineData("get", Fault.ReturnNull)]
    [InlineData("set", Fault.Throw)]
    [InlineData("set", Fault.ThrowSynchronously)]
    [InlineData("set", Fault.ThrowAfterDoing)]
    [InlineData("remove", Fault.Throw)]
    [InlineData("remove", Fault.ThrowSynchronously)]
    public async Task Second_level_that_throws_is_tolerated_and_what_it_missed_is_done_later(string throwing, object fault)
    {
        await using var caches = new CachesUnderTest("throws");
        CairnHybridCache cache = caches.Add();
        await cache.SetAsync("removed", "old");
        await cache.SetAsync("tagged", "old", tags: ["tag"]);
        caches.Faulty.Script = (operation, _) => operation == throwing ? (Fault)fault : Fault.None;

        await cache.RemoveAsync("removed");
        await cache.RemoveByTagAsync("tag");
        await cache.SetAsync("set", "new");
        string removed = await cache.GetOrCreateAsync("removed", _ => new ValueTask<string>("new"));
        string tagged = await cache.GetOrCreateAsync("tagged", _ => new ValueTask<string>("new"), tags: ["tag"]);
        string set = await cache.GetOrCreateAsync("set", _ => new ValueTask<string>("made"));

        Assert.Equal(["new", "new"], new[] { removed, tagged });
        Assert.Equal("new", set);
        caches.Faulty.Script = (_, _) => Fault.None;
        await cache.DisposeAsync();
        CairnHybridCache later = caches.Add();
        Assert.Equal("new", await later.GetOrCreateAsync("removed", _ => new ValueTask<string>("new")));
        Assert.Equal("new", await later.GetOrCreateAsync("tagged", _ => new ValueTask<string>("new"), tags: ["tag"]));
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(All))]
    public async Task Factory_that_asks_for_its_own_key_is_refused(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache cache = caches.AddHybrid();

        InvalidOperationException refusal = await Assert.ThrowsAsync<InvalidOperationException>(
            async () => await cache.GetOrCreateAsync(
                "key", async token => await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("inner"), cancellationToken: token)));

        Assert.Contains("'key'", refusal.Message, StringComparison.Ordinal);
        Assert.Equal("later", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("later")));
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Two_threads_that_want_50000_keys_run_50000_factories(string level)
    {
        const int Keys = 50_000;
        await using var caches = new CachesUnderTest(level);
        HybridCache cache = caches.AddHybrid();
        int[] runs = new int[Keys];
        using var start = new Barrier(2);

        Task Want() => Task.Run(async () =>
        {
            start.SignalAndWait();
            for (int i = 0; i < Keys; i++)
            {
                int at = i;
                int value = await cache.GetOrCreateAsync($"key {i}", _ =>
                {
                    Interlocked.Increment(ref runs[at]);
                    return new ValueTask<int>(at);
                });
                Assert.Equal(i, value);
            }
        });
        await Task.WhenAll(Want(), Want());

        Assert.All(runs, count => Assert.Equal(1, count));
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Two_nodes_that_want_one_key_run_one_factory(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache a = caches.AddHybrid();
        HybridCache b = caches.AddHybrid();
        var factory = new HeldFactory<string>();

        Task<string> first = a.GetOrCreateAsync("key", token => factory.RunAsync(token)).AsTask();
        await factory.StartedAsync();
        Task<string> second = b.GetOrCreateAsync("key", _ => new ValueTask<string>("second")).AsTask();
        factory.Return("first");

        Assert.Equal("first", await first);
        Assert.Equal("first", await second);
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(All))]
    public async Task Second_caller_shares_the_factory_of_a_first_one_that_cancels(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache cache = caches.AddHybrid();
        var factory = new HeldFactory<string>();
        using var cancellation = new CancellationTokenSource();

        Task<string> first = cache.GetOrCreateAsync("key", token => factory.RunAsync(token), cancellationToken: cancellation.Token).AsTask();
        await factory.StartedAsync();
        Task<string> second = cache.GetOrCreateAsync("key", _ => new ValueTask<string>("second")).AsTask();
        await cancellation.CancelAsync();

        await Task.WhenAny(first);
        Assert.True(first.IsCanceled);
        Assert.False(factory.Token.IsCancellationRequested);
        factory.Return("first");
        Assert.Equal("first", await second);
    }

    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Value_over_the_payload_limit_is_kept_in_the_first_level_only_and_counted(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache a = caches.Add();
        CairnHybridCache b = caches.Add();
        byte[] large = new byte[2 << 20];
        Random.Shared.NextBytes(large);
        string text = Convert.ToHexString(large);

        await a.GetOrCreateAsync("key", _ => new ValueTask<string>(text));
        string again = await a.GetOrCreateAsync("key", _ => new ValueTask<string>("made again"));
        string elsewhere = await b.GetOrCreateAsync("key", _ => new ValueTask<string>("made there"));

        Assert.Equal(text, again);
        Assert.Equal("made there", elsewhere);
        Assert.Equal(1, a.GetStatistics().TooLargeForShared);
    }

    [Theory]
    [MemberData(nameof(Shared))]
    public async Task Value_over_the_payload_limit_that_is_set_leaves_no_older_one_to_others(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache a = caches.Add(options => options.MaximumPayloadBytes = 100);
        CairnHybridCache b = caches.Add();
        await a.SetAsync("key", "old");
        await b.GetAsync<string>("key");

        await a.SetAsync("key", new string('x', 1_000));

        Assert.False((await b.GetAsync<string>("key")).IsFound);
        Assert.Equal(new string('x', 1_000), (await a.GetAsync<string>("key")).Value);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Hit_allocates_nothing(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        string[] tags = ["one", "two"];
        var shared = new CairnEntryOptions { ShareLocalValue = true };
        var safe = new CairnEntryOptions { FailSafe = TimeSpan.FromHours(1), EagerRefreshThreshold = 0.9 };
        var theirs = new HybridCacheEntryOptions { Expiration = TimeSpan.FromHours(1) };
        int number = 7;
        Dictionary<string, Action> hits = new(StringComparer.Ordinal)
        {
            ["string"] = () => Take(cache.GetOrCreateAsync("string", 0, static (_, _) => new ValueTask<string>("value"))),
            ["shared object"] = () => Take(cache.GetOrCreateAsync("object", 0, static (_, _) => new ValueTask<Version>(new Version(1, 2)), shared)),
            ["interpolated key"] = () => Take(cache.GetOrCreateAsync($"interpolated {number}", 0, static (_, _) => new ValueTask<string>("value"))),
            ["two tags"] = () => Take(cache.GetOrCreateAsync("tagged", 0, static (_, _) => new ValueTask<string>("value"), tags: tags)),
            ["Microsoft's options on this type"] = () => Take(cache.GetOrCreateAsync("theirs", 0, static (_, _) => new ValueTask<string>("value"), theirs)),
            ["Microsoft's options without a state"] = () => Take(cache.GetOrCreateAsync("stateless", static _ => new ValueTask<string>("value"), theirs)),
            ["Microsoft's options of a factory that decides"] =
                () => Take(cache.GetOrCreateAsync<string>("decides", static (_, _) => new ValueTask<string>("value"), theirs)),
            ["fail-safe and eager refresh"] = () => Take(cache.GetOrCreateAsync("safe", 0, static (_, _) => new ValueTask<string>("value"), safe)),
        };

        foreach ((string name, Action hit) in hits)
        {
            // The runtime sometimes allocates while it recompiles hot code. A hit that allocates would do so in every round.
            long least = long.MaxValue;
            for (int round = 0; round < 5; round++)
            {
                long before = GC.GetAllocatedBytesForCurrentThread();
                for (int i = 0; i < 1_000; i++)
                {
                    hit();
                }

                least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
            }

            Assert.True(least == 0, $"1,000 hits ({name}) allocated {least} bytes.");
        }

        Assert.Equal(hits.Count, cache.GetStatistics().FactoryRuns);

        static void Take<T>(ValueTask<T> hit) => Assert.True(hit.IsCompletedSuccessfully);
    }
}
