using System.Diagnostics;
using static Cairn.Steps.ProtocolStep;

namespace Cairn.TortureTests.Processes;

/// <summary>
/// A process is stopped (SIGSTOP) at a chosen step. It is not dead: no other process takes over its locks, and the others continue as far as they can
/// within their time-outs. It causes no harm when it continues. docs/reference/unusual-situations.md has the expected results.
/// </summary>
public sealed class StoppedProcessTests : IDisposable
{
    private static readonly TimeSpan LockTimeout = TimeSpan.FromMilliseconds(20);

    // Far longer than the time-out, but limited.
    private static readonly TimeSpan Soon = TimeSpan.FromMinutes(1);

    private readonly StoreDirectory _directory = new();
    private readonly List<CairnStore> _stores = [];

    private StoreOptions Options => _directory.Options with { LockTimeout = LockTimeout };

    public void Dispose()
    {
        _stores.ForEach(store => store.Dispose());
        _directory.Dispose();
    }

    [Theory]
    [InlineData("set", nameof(LockTaken), "True", "stopped's")]
    [InlineData("set", nameof(BucketVersionRaised), "True", "stopped's")]
    [InlineData("set", nameof(SlotStored), "True", null)] // The set precedes the removal below, which therefore removed it.
    [InlineData("set", nameof(LockReleasing), "True", null)]
    [InlineData("append", nameof(EntryCopied), "NotFound", null)]
    [InlineData("append", nameof(RingCellStored), "Stored", null)]
    public void Others_continue_while_a_process_is_stopped_with_a_lock(string operation, string step, string result, string? value)
    {
        CairnStore store = Open(Options);
        CairnCollection cache = store.DefaultCollection;
        Keys keys = Fill(store);
        using ChildProcess stopped = StopAt(operation, keys.OfStopped, step);
        long start = Stopwatch.GetTimestamp();

        ExpectReadsAsAlways(store, keys);
        ExpectWritesOfTheValueGone(store, keys);
        ExpectTheRestBusy(store, keys);
        ExpectOpeningAsAlways(keys);
        ExpectClearingOfWhatCanBeCleared(store, keys);
        Assert.True(StoreMaintenance.Verify(_directory.FilePath).IsSound);
        Assert.InRange(store.GetStatistics().Partitions[0].Dropped, 3, 100);
        Assert.True(Stopwatch.GetElapsedTime(start) < Soon);
        ProcessSignals.Continue(stopped.Id);

        Assert.Equal(result, stopped.ReadLine());
        Assert.Equal(value, cache.GetString(keys.OfStopped));
        Assert.True(cache.Set(keys.OfStopped, "next"u8));
        Assert.Equal("next", cache.GetString(keys.OfStopped));
        Assert.Equal(0, stopped.Finish());
        StoreAudit.Check(store, areBooksExact: false);
        Assert.Equal(0, store.GetStatistics().Totals.Recoveries);
    }

    [Fact]
    public void Pinned_values_of_a_stopped_process_stay_and_nothing_else_is_held_back()
    {
        CairnStore store = Open(Options with { CapacityBytes = StoreLimits.MinCapacityBytes });
        CairnCollection cache = store.DefaultCollection;
        string[] names = [.. Enumerable.Range(0, 10).Select(i => $"pinned:{i}")];
        Array.ForEach(names, name => Assert.True(cache.Set(name, TestBytes.Of(2_500))));
        using ChildProcess stopped = ChildProcess.Start(typeof(Program), ["stop-with-pins", _directory.FilePath, .. names]);
        Assert.Equal("10", stopped.ReadLine());
        ProcessSignals.WaitUntilStopped(stopped.Id);

        for (int i = 0; i < 3_000; i++)
        {
            Assert.True(cache.Set($"{i}", TestBytes.Of(2_500, seed: i)));
            Assert.Equal(TestBytes.Of(2_500, seed: i), cache.Get($"{i}"));
        }

        Assert.True(store.GetStatistics().Totals.Evictions > 2_000);
        ProcessSignals.Continue(stopped.Id);

        Assert.Equal("unchanged", stopped.ReadLine());
        Assert.Equal(0, stopped.Finish());
        for (int i = 0; i < 3_000; i++)
        {
            Assert.True(cache.Set($"{i}", TestBytes.Of(2_500)));
        }

        StoreAudit.Check(store);
    }

    [Fact]
    public async Task Store_is_used_by_others_while_a_process_that_opens_it_is_stopped_and_opened_when_that_process_continues()
    {
        CairnStore store = Open(Options);
        using ChildProcess stopped = ChildProcess.Start(typeof(Program), "stop-at", _directory.FilePath, "open", "none", nameof(OpenGateTaken));
        ProcessSignals.WaitUntilStopped(stopped.Id);

        Task<CairnStore> opening = OwnThread.Run(() => CairnStore.Open(Options));
        for (int i = 0; i < 10_000; i++)
        {
            Assert.True(store.DefaultCollection.Set($"{i}", TestBytes.Of(1_000)));
        }

        Assert.False(opening.IsCompleted);
        ProcessSignals.Continue(stopped.Id);

        CairnStore other = await opening;
        _stores.Add(other);
        Assert.Equal(TestBytes.Of(1_000), other.DefaultCollection.Get("9999"));
        Assert.Equal("open", stopped.ReadLine());
        Assert.Equal(0, stopped.Finish());
    }

    [Fact]
    public void Store_evicts_while_a_process_that_grows_it_is_stopped_and_grows_when_that_process_continues()
    {
        CairnStore store = Open(
            Options with { CapacityBytes = 2 << 20, MaxCapacityBytes = 4 << 20, LockTimeout = TimeSpan.FromMilliseconds(2) });
        long before = store.GetStatistics().FileBytes;
        using ChildProcess stopped = StopAt("fill", "none", nameof(Growing));

        // In addition to the gate, the stopped process holds one partition's lock.
        int dropped = Enumerable.Range(0, 3_000).Count(i => !store.DefaultCollection.Set($"{i}", TestBytes.Of(1_000)));

        Assert.Equal(before, store.GetStatistics().FileBytes);
        Assert.InRange(dropped, 1, 3_000 / 2);
        ProcessSignals.Continue(stopped.Id);
        Assert.Equal("filled", stopped.ReadLine());
        Assert.True(store.GetStatistics().FileBytes > before);
        Assert.Equal(0, stopped.Finish());
        StoreAudit.Check(store, areBooksExact: false);
    }

    [Fact]
    public void Stopped_process_keeps_its_lease_until_another_sets_the_value()
    {
        CairnStore store = Open(Options);
        CairnCollection cache = store.DefaultCollection;
        using ChildProcess stopped = StopAt("lease", "key", nameof(None));

        Assert.Equal(LeaseStatus.Held, cache.AcquireLease("key", TimeSpan.FromMilliseconds(30), out _));
        Assert.True(cache.Set("key", "value"u8));
        ProcessSignals.Continue(stopped.Id);

        Assert.Equal("Acquired, then False", stopped.ReadLine());
        Assert.Equal("value", cache.GetString("key"));
        Assert.Equal(0, stopped.Finish());
    }

    private static void ExpectReadsAsAlways(CairnStore store, Keys keys)
    {
        Assert.All(keys.Locked, key => Assert.Equal(key, store.DefaultCollection.GetString(key)));
        Assert.True(store.DefaultCollection.TryPin(keys.Locked[0], out PinnedValue? pinned));
        pinned.Dispose();
        Assert.Equal(keys.Locked.Length + keys.Free.Length, store.DefaultCollection.Entries().Count(entry => entry.KeyText != keys.OfStopped));
    }

    private static void ExpectWritesOfTheValueGone(CairnStore store, Keys keys)
    {
        InvalidationCursor cursor = store.GetInvalidationCursor(0);
        Assert.False(store.DefaultCollection.Set(keys.OfStopped, "dropped"u8));
        Assert.Null(store.DefaultCollection.GetString(keys.OfStopped));
        Assert.False(store.DefaultCollection.Set(keys.Locked[0], "dropped"u8));
        Assert.False(store.DefaultCollection.Set(keys.Locked[1], TestBytes.Of(100_000))); // The value needs a run of segments.
        Assert.True(store.DefaultCollection.Remove(keys.Locked[2]));
        Assert.All(keys.Locked[..3], key => Assert.False(store.DefaultCollection.Contains(key)));
        Assert.Equal(InvalidationStatus.Overrun, store.ReadInvalidations(0, ref cursor, stackalloc ulong[8], out _));
        Assert.True(store.DefaultCollection.Set(keys.Free[0], "new"u8));
        Assert.Equal("new", store.DefaultCollection.GetString(keys.Free[0]));
    }

    private static void ExpectTheRestBusy(CairnStore store, Keys keys)
    {
        string key = keys.Locked[3];
        store.DefaultCollection.TryGetInfo(key, out EntryInfo info);

        Assert.Equal(WriteStatus.Busy, store.DefaultCollection.Add(keys.Locked[0], "new"u8));
        Assert.Equal(WriteStatus.Busy, store.DefaultCollection.Replace(key, "new"u8));
        Assert.Equal(WriteStatus.Busy, store.DefaultCollection.Append(key, "new"u8));
        Assert.Equal(WriteStatus.Busy, store.DefaultCollection.CompareAndSwap(key, "new"u8, info.Version));
        Assert.Equal(WriteStatus.Busy, store.DefaultCollection.Increment(keys.Locked[0], 1, out _, initialValue: 1));
        Assert.Equal(WriteStatus.Busy, store.DefaultCollection.Touch(key, TimeSpan.FromHours(1)));
        Assert.Equal(WriteStatus.Busy, store.DefaultCollection.CompareAndRemove(key, info.Version));
        Assert.Equal(LeaseStatus.Busy, store.DefaultCollection.AcquireLease(keys.Locked[0], TimeSpan.Zero, out _));
        Assert.Throws<StoreException>(() => store.Collection("new"));
        Assert.Equal(key, store.DefaultCollection.GetString(key));
    }

    private void ExpectOpeningAsAlways(Keys keys)
    {
        using CairnStore other = CairnStore.Open(Options);
        CairnCollection cache = other.DefaultCollection;
        Assert.Equal(keys.Locked[3], cache.GetString(keys.Locked[3]));
        Assert.False(cache.Set(keys.Locked[3], "dropped"u8));
        Assert.True(cache.Set(keys.Free[1], "new"u8));
    }

    private static void ExpectClearingOfWhatCanBeCleared(CairnStore store, Keys keys)
    {
        Assert.False(store.DefaultCollection.Clear());
        Assert.All(keys.Free, key => Assert.False(store.DefaultCollection.Contains(key)));
        Assert.True(store.DefaultCollection.Contains(keys.Locked[4]));
    }

    private Keys Fill(CairnStore store)
    {
        string[] all = [.. Enumerable.Range(0, 500).Select(i => $"key:{i}")];
        Array.ForEach(all, key => Assert.True(store.DefaultCollection.Set(key, System.Text.Encoding.UTF8.GetBytes(key))));
        string[] locked = [.. all.Where(key => store.DefaultCollection.PartitionOf(key) == 0)];
        return new Keys(locked[0], locked[1..], [.. all.Except(locked)]);
    }

    private ChildProcess StopAt(string operation, string key, string step)
    {
        ChildProcess child = ChildProcess.Start(typeof(Program), "stop-at", _directory.FilePath, operation, key, step);
        Assert.Equal("open", child.ReadLine());
        child.WriteLine("go");
        ProcessSignals.WaitUntilStopped(child.Id);
        return child;
    }

    private CairnStore Open(StoreOptions options)
    {
        CairnStore store = CairnStore.Open(options);
        _stores.Add(store);
        return store;
    }

    /// <summary>Keys of the first partition, whose lock the stopped process holds, and keys of other partitions.</summary>
    private sealed record Keys(string OfStopped, string[] Locked, string[] Free);
}
