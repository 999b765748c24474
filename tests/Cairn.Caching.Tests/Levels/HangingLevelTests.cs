namespace Cairn.Caching.Tests.Levels;

/// <summary>
/// The whole cache over a second level of which one kind of call hangs. Time moves by one step only, as long as the documented bound. A call
/// that waits for a second time-out of its own would therefore not end.
/// </summary>
public sealed class HangingLevelTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(1);

    // Real time. It only ends a test that has failed.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private static readonly Dictionary<string, Func<CairnHybridCache, string, Task>> Operations = new(StringComparer.Ordinal)
    {
        ["GetOrCreate"] = (cache, key) => cache.GetOrCreateAsync(key, _ => new ValueTask<string>("made")).AsTask(),
        ["GetOrCreate, waiting factory"] = (cache, key) => cache.GetOrCreateAsync(key, async _ =>
        {
            await Task.Yield();
            return "made";
        }).AsTask(),
        ["GetOrCreate, tags"] = (cache, key) => cache.GetOrCreateAsync(key, _ => new ValueTask<string>("made"), tags: [$"{key} 1", $"{key} 2", $"{key} 3"]).AsTask(),
        ["two of GetOrCreate, tags"] = (cache, key) => Task.WhenAll(
            cache.GetOrCreateAsync(key, _ => new ValueTask<string>("made"), tags: [$"{key} 1"]).AsTask(),
            cache.GetOrCreateAsync(key, _ => new ValueTask<string>("made"), tags: [$"{key} 1"]).AsTask()),
        ["GetOrCreate of an entry with tags"] = (cache, _) => cache.GetOrCreateAsync("tagged", _ => new ValueTask<string>("made"), tags: ["tag"]).AsTask(),
        ["Get"] = (cache, key) => cache.GetAsync<string>(key).AsTask(),
        ["GetMany"] = (cache, key) => cache.GetManyAsync<string>([.. Enumerable.Range(0, 50).Select(i => $"{key} {i}")]).AsTask(),
        ["Set"] = (cache, key) => cache.SetAsync(key, "set", tags: [$"{key} 1", $"{key} 2"]).AsTask(),
        ["Remove"] = (cache, key) => cache.RemoveAsync(key).AsTask(),
        ["Remove, many"] = (cache, key) => cache.RemoveAsync(Enumerable.Range(0, 100).Select(i => $"{key} {i}")).AsTask(),
        ["RemoveByTag"] = (cache, key) => cache.RemoveByTagAsync(key).AsTask(),
        ["RemoveByTag, many"] = (cache, key) => cache.RemoveByTagAsync(Enumerable.Range(0, 200).Select(i => $"{key} {i}")).AsTask(),
        ["Expire"] = (cache, key) => cache.ExpireAsync(key).AsTask(),
        ["Clear"] = (cache, _) => cache.ClearAsync().AsTask(),
    };

    public static TheoryData<LevelMethod, bool, bool> Methods()
    {
        var data = new TheoryData<LevelMethod, bool, bool>();
        foreach (LevelMethod method in Enum.GetValues<LevelMethod>())
        {
            foreach (bool blocks in new[] { false, true })
            {
                data.Add(method, blocks, false);
                if (method is LevelMethod.None or LevelMethod.Get or LevelMethod.Set)
                {
                    data.Add(method, blocks, true);
                }
            }
        }

        return data;
    }

    [Theory]
    [MemberData(nameof(Methods))]
    public async Task No_call_waits_longer_than_the_bound_whichever_method_hangs(LevelMethod method, bool blocksThread, bool hasBuffers)
    {
        foreach ((string name, Func<CairnHybridCache, string, Task> operation) in Operations)
        {
            foreach (bool isInUse in new[] { false, true })
            {
                await using var test = new CacheOverHangingLevel(blocksThread, hasBuffers, setsWithLease: method == LevelMethod.TrySet);
                if (isInUse)
                {
                    await test.UseAsync();
                }

                // The last case: every method hangs.
                test.Level.Hangs = method == LevelMethod.None ? _ => true : other => other == method;

                string? fault = await test.RunAsync(operation);

                Assert.True(fault is null, $"{name}, {(isInUse ? "in use" : "first call")}: {fault}");
            }
        }
    }

    [Theory]
    [InlineData(LevelMethod.Get)]
    [InlineData(LevelMethod.Set)]
    [InlineData(LevelMethod.TryAcquire)]
    [InlineData(LevelMethod.Publish)]
    public async Task Calls_of_a_kind_that_hangs_are_left_out_soon_although_others_work(LevelMethod method)
    {
        await using var test = new CacheOverHangingLevel(blocksThread: false, hasBuffers: false, setsWithLease: false);
        await test.UseAsync();
        test.Level.Hangs = other => other == method;
        for (int i = 0; i < 5; i++)
        {
            await test.RunSlowlyAsync(Operations["GetOrCreate"], until: () => test.Level.Hanging > i);
        }

        // Time stands still, so a call that waits for another would not end.
        Task sixth = Operations["GetOrCreate"](test.Cache, "sixth");

        await sixth.WaitAsync(Patience);
    }

    [Fact]
    public async Task Channel_whose_subscription_hangs_delays_neither_the_creation_of_a_cache_nor_its_calls()
    {
        var level = new HangingCache { BlocksSubscription = true };
        try
        {
            var options = new CairnHybridCacheOptions { DistributedCache = level, DistributedReadTimeout = TimeSpan.FromMilliseconds(20) };
            await using CairnHybridCache cache = await Task.Run(() => CairnHybridCache.Create(options)).WaitAsync(Patience);

            Assert.Equal("made", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("made")).AsTask().WaitAsync(Patience));
            Assert.Equal(0, level.Receivers);
            level.LetGo();
            await LevelUnderTest.UntilAsync(() => level.Receivers == 1);
        }
        finally
        {
            level.LetGo();
        }
    }

    [Fact]
    public async Task Lease_of_a_caller_that_cancels_before_it_has_it_is_given_back()
    {
        await using var test = new CacheOverHangingLevel(blocksThread: false, hasBuffers: false, setsWithLease: false);
        await test.UseAsync();
        test.Level.Beat();
        using var cancellation = new CancellationTokenSource();

        // Hangs the read for a value that another caller has created between the first read and the lease.
        test.Level.Hangs = method => method == LevelMethod.Get && test.Level.Leased > 0;
        Task<string> call = test.Cache.GetOrCreateAsync("key", _ => new ValueTask<string>("made"), cancellationToken: cancellation.Token).AsTask();
        await LevelUnderTest.UntilAsync(() => test.Level.Hanging > 0);
        await cancellation.CancelAsync();

        await Assert.ThrowsAsync<OperationCanceledException>(() => call.WaitAsync(Patience));
        await LevelUnderTest.UntilAsync(() => test.Level.Leased == 0);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Log_names_the_limit_and_not_what_earlier_steps_left_of_it(bool readsHang)
    {
        using var log = new RecordingLoggers();
        await using var test = new CacheOverHangingLevel(blocksThread: false, hasBuffers: false, setsWithLease: false, log);
        test.Level.Hangs = method => method == LevelMethod.Get == readsHang;

        await test.RunSlowlyAsync(Operations["GetOrCreate, tags"], until: () => log.Lines.Any(line => line.Contains("did not answer", StringComparison.Ordinal)));

        Assert.All(
            log.Lines.Where(line => line.Contains("did not answer", StringComparison.Ordinal)),
            line => Assert.Contains("within 1000 ms", line, StringComparison.Ordinal));
    }

    private sealed class CacheOverHangingLevel : IAsyncDisposable
    {
        private readonly CountingClock _clock = new();
        private int _keys;

        public CacheOverHangingLevel(bool blocksThread, bool hasBuffers, bool setsWithLease, RecordingLoggers? log = null)
        {
            Level = hasBuffers
                ? new HangingBufferCache { BlocksThread = blocksThread, SetsWithLease = setsWithLease }
                : new HangingCache { BlocksThread = blocksThread, SetsWithLease = setsWithLease };
            Cache = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = Level, TimeProvider = _clock }, log);
        }

        public HangingCache Level { get; }

        public CairnHybridCache Cache { get; }

        /// <summary>Performs a few calls that work.</summary>
        public async Task UseAsync()
        {
            await Cache.GetOrCreateAsync("used", _ => new ValueTask<string>("made"));
            await Cache.SetAsync("tagged", "set", new CairnEntryOptions { Flags = Microsoft.Extensions.Caching.Hybrid.HybridCacheEntryFlags.DisableLocalCacheWrite }, ["tag"]);
            await Cache.RemoveAsync("used");
            await Cache.RemoveByTagAsync("other tag");

            // The leases are given back, so no step of these calls is left. The number of timers does not show that: Task.WaitAsync does not
            // dispose its timer if the task completes within nanoseconds of the call.
            await LevelUnderTest.UntilAsync(() => Level.Leased == 0);
        }

        /// <summary>Runs an operation on a new key while one bound of time passes. Returns null if it ended.</summary>
        public async Task<string?> RunAsync(Func<CairnHybridCache, string, Task> operation)
        {
            Level.Beat();
            Task running = operation(Cache, $"key {++_keys}");
            if (await IsWaitingAsync(running))
            {
                // Slightly more, because only one of the timers that are due at the end of a step fires.
                _clock.Advance(Bound + TimeSpan.FromMilliseconds(1));
            }

            Task first = await Task.WhenAny(running, Task.Delay(Patience)); // Only a test that has failed waits as long.
            if (first != running)
            {
                return $"{Level.Hanging} calls hang: {string.Join(", ", Level.Calls)}";
            }

            await running;
            return null;
        }

        /// <summary>Runs an operation and moves the time in small steps until the operation has ended and a condition holds.</summary>
        public async Task RunSlowlyAsync(Func<CairnHybridCache, string, Task> operation, Func<bool> until)
        {
            Level.Beat();
            Task running = operation(Cache, $"key {++_keys}");
            await LevelUnderTest.AdvanceUntilAsync(_clock, () => running.IsCompleted && until());
            await running;
        }

        public async ValueTask DisposeAsync()
        {
            Level.LetGo();
            Task end = Cache.DisposeAsync().AsTask();
            await LevelUnderTest.AdvanceUntilAsync(_clock, () => end.IsCompleted);
            await end;
        }

        // Returns true when a call hangs and the timers of all its waiters run; false if the operation ended.
        private async Task<bool> IsWaitingAsync(Task running)
        {
            const int Polls = 10;
            DateTime end = DateTime.UtcNow + Patience;
            int timers = 0;
            for (int polls = 0; polls < Polls && !running.IsCompleted && DateTime.UtcNow < end;)
            {
                await Task.Delay(1); // No event reports that no step follows.
                int now = _clock.WaitingTimers;
                polls = Level.Hanging > 0 && now > 0 && now == timers ? polls + 1 : 0;
                timers = now;
            }

            return !running.IsCompleted;
        }
    }

    /// <summary>A clock that counts the timers that are not disposed yet.</summary>
    private sealed class CountingClock() : ManualClock(hasTimers: true)
    {
        private int _waiting;

        public int WaitingTimers => Volatile.Read(ref _waiting);

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            Interlocked.Increment(ref _waiting);
            return new CountedTimer(this, base.CreateTimer(callback, state, dueTime, period));
        }

        private sealed class CountedTimer(CountingClock clock, ITimer timer) : ITimer
        {
            private bool _isDisposed;

            public bool Change(TimeSpan dueTime, TimeSpan period) => timer.Change(dueTime, period);

            public void Dispose()
            {
                if (!Interlocked.Exchange(ref _isDisposed, true))
                {
                    Interlocked.Decrement(ref clock._waiting);
                }

                timer.Dispose();
            }

            public ValueTask DisposeAsync()
            {
                Dispose();
                return default;
            }
        }
    }
}
