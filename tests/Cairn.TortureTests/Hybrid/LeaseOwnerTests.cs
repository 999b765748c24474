using System.Diagnostics;
using Cairn.Caching;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Hybrid;

/// <summary>Processes that are killed or stopped in their factories. A caller that waits takes over the lease.</summary>
public sealed class LeaseOwnerTests(ITestOutputHelper output) : IDisposable
{
    private const string Key = "key";

    private static readonly int Kills = TortureRun.Count(inShort: 3, inLong: 300);

    // Long enough for a busy machine, and far shorter than the time for which a caller waits for a lease.
    private static readonly TimeSpan LongestTakeover = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan LeaseWait = TimeSpan.FromMinutes(2);

    private readonly StoreDirectory _directory = new();

    [Fact]
    public async Task Factory_of_a_killed_process_is_taken_over_at_once_by_a_waiting_caller()
    {
        using CairnHybridCache cache = Open(TimeSpan.FromSeconds(1));
        using CairnHybridCache other = Open(TimeSpan.FromSeconds(2));
        var options = new CairnEntryOptions { LeaseWait = LeaseWait };
        var slowest = TimeSpan.Zero;
        for (int i = 0; i < Kills; i++)
        {
            string key = $"{Key}:{i}";
            using ChildProcess owner = StartOwner(key, "dead");
            int runs = 0;
            Func<CancellationToken, ValueTask<string>> make = _ => new ValueTask<string>($"alive {Interlocked.Increment(ref runs)}");
            Task<string> waiting = Task.Run(() => cache.GetOrCreateAsync(key, make, options).AsTask());
            Task<string> alsoWaiting = Task.Run(() => other.GetOrCreateAsync(key, make, options).AsTask());
            await WaitUntilMissedAsync(cache, i + 1);
            await WaitUntilMissedAsync(other, i + 1);
            Assert.Equal(0, Volatile.Read(ref runs));

            long start = Stopwatch.GetTimestamp();
            owner.Kill();
            string[] values = [await waiting, await alsoWaiting];
            TimeSpan took = Stopwatch.GetElapsedTime(start);

            Assert.Equal(["alive 1", "alive 1"], values);
            slowest = took > slowest ? took : slowest;
        }

        output.WriteLine($"Taken over after {slowest.TotalMilliseconds:N0} ms at most.");
        Assert.True(slowest < LongestTakeover, $"It took {slowest}.");
    }

    [Fact]
    public async Task Stopped_process_is_waited_for_as_long_as_the_options_say_and_what_it_makes_of_the_past_is_not_kept()
    {
        using CairnHybridCache cache = Open(TimeSpan.FromSeconds(1));
        using ChildProcess owner = StartOwner(Key, "from the past");
        ProcessSignals.Stop(owner.Id);
        var options = new CairnEntryOptions { LeaseWait = TimeSpan.FromMilliseconds(300) };

        long start = Stopwatch.GetTimestamp();
        string made = await cache.GetOrCreateAsync(Key, _ => new ValueTask<string>("made without it"), options);
        TimeSpan took = Stopwatch.GetElapsedTime(start);
        await cache.RemoveAsync(Key);
        ProcessSignals.Continue(owner.Id);
        owner.WriteLine("go on");
        string itsOwn = owner.ReadLine();
        CacheResult<string> found = await cache.GetAsync<string>(Key);

        Assert.Equal("made without it", made);
        Assert.True(took >= options.LeaseWait && took < LongestTakeover, $"It took {took}.");
        Assert.Equal("from the past", itsOwn);
        Assert.False(found.IsFound);
    }

    public void Dispose() => _directory.Dispose();

    // A child process that is in the factory of the key and holds its lease.
    private ChildProcess StartOwner(string key, string value)
    {
        var owner = ChildProcess.Start(typeof(Program), "hybrid-make", _directory.FilePath, key, value);
        Assert.Equal("making", owner.ReadLine());
        return owner;
    }

    // A caller that has missed is about to request the lease, or waits for it.
    private static async Task WaitUntilMissedAsync(CairnHybridCache cache, int misses)
    {
        while (cache.GetStatistics().Misses < misses)
        {
            await Task.Delay(1); // No event reports the miss.
        }
    }

    // Each cache has its own opening of the store, as separate processes do, because their time-outs differ.
    private CairnHybridCache Open(TimeSpan lockTimeout) => CairnHybridCache.Create(new CairnHybridCacheOptions().UseStoreFile(
        _directory.FilePath,
        file =>
        {
            file.CapacityBytes = StoreDirectory.SmallCapacityBytes;
            file.FlushOnClose = false;
            file.LockTimeout = lockTimeout;
        }));
}
