using System.Diagnostics;
using Cairn.Caching.Coherence;
using Cairn.Caching.Levels;
using Cairn.Caching.Tagging;

namespace Cairn.Caching.Tests.Levels;

/// <summary>The effect of other processes on a level when they are killed, or stopped while they hold the store's locks.</summary>
public sealed class StoreLevelProcessTests : StoreLevelTest
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(1);
    private static readonly byte[] Dune = [.. "Dune"u8];

    private protected override StoreOptions Options =>
        base.Options with { TimeProvider = TimeProvider.System, LockTimeout = TimeSpan.FromMilliseconds(20) };

    [Fact]
    public async Task Lease_of_a_killed_process_goes_to_a_waiting_caller()
    {
        StoreLevel level = Open();
        using ChildProcess owner = ChildProcess.Start(typeof(Program), "hold-lease", FilePath, Name, "key");
        Assert.Equal("Acquired", owner.ReadLine());
        Task<LeaseResult>[] waiting = [Acquire(level, "key", Long), Acquire(level, "key", Long)];
        Assert.All(waiting, task => Assert.False(task.IsCompleted));

        owner.Kill();
        await Task.WhenAny(waiting);

        LeaseResult taken = Assert.Single(await Task.WhenAll(waiting.Where(task => task.IsCompleted)));
        Assert.Equal(LevelStatus.Done, taken.Status);
        Assert.Equal(LevelStatus.Done, await Write(level, "key", Dune, lease: taken.Lease));
        Assert.Single(await Task.WhenAll(waiting), result => result.Status == LevelStatus.Hit);
    }

    [Fact]
    public async Task Lease_of_a_stopped_process_is_waited_for_no_longer_than_the_caller_wants_and_given_up_by_a_write()
    {
        StoreLevel level = Open();
        using ChildProcess owner = ChildProcess.Start(typeof(Program), "hold-lease", FilePath, Name, "key");
        Assert.Equal("Acquired", owner.ReadLine());
        ProcessSignals.Stop(owner.Id);

        Assert.Equal(LevelStatus.Held, (await Acquire(level, "key", TimeSpan.FromMilliseconds(30))).Status);
        Assert.Equal(LevelStatus.Done, await Write(level, "key", Dune));
        ProcessSignals.Continue(owner.Id);

        Assert.Equal(0, owner.Finish());
        Assert.Equal(Dune, await Read(level, "key"));
    }

    [Fact]
    public async Task Nothing_that_was_changed_stays_readable_while_a_process_is_stopped_with_every_lock()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        await Write(level, "kept", Dune);
        await Write(level, "removed", Dune);
        await Write(level, "replaced", Dune);
        ulong stamp = await ReadStamp(level, "tag");
        ulong hash = level.Hasher.Hash("removed");
        using ChildProcess stopped = StartHolding();
        ProcessSignals.Stop(stopped.Id);
        ChangeMark mark = other.Coherence.Mark(hash);

        Assert.Equal(LevelStatus.Done, await Remove(level, "removed"));
        Assert.Equal(LevelStatus.Done, await RenewStamp(level, "tag"));
        Assert.Equal(LevelStatus.Failed, await Write(level, "replaced", [1]));

        Assert.False(other.Coherence.IsUnchanged(mark, hash));
        Assert.Null(await Read(other, "removed"));
        Assert.Null(await Read(other, "replaced"));
        Assert.Equal(Dune, await Read(other, "kept"));
        Assert.Equal(Tag.Unknown, await ReadStamp(other, "tag"));
        Assert.Equal(LevelStatus.Failed, (await Acquire(other, "missing", Long)).Status);
        Assert.Equal(1, level.Failures);
        Assert.Equal(2, other.Failures);
        Release(stopped);

        Assert.NotInRange(await ReadStamp(other, "tag"), stamp, stamp);
        Assert.Equal(LevelStatus.Done, await Write(level, "replaced", [1]));
        Assert.Equal([1], await Read(other, "replaced"));
    }

    [Fact]
    public async Task Clearing_that_a_stopped_process_delays_takes_effect_here_at_once_and_for_all_when_the_process_continues()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        string[] keys = [.. Enumerable.Range(0, 20).Select(i => $"key:{i}")];
        foreach (string key in keys)
        {
            await Write(level, key, Dune);
        }

        ulong stamp = await ReadStamp(level, "tag");
        LeaseResult leased = await Acquire(level, "leased");
        using ChildProcess stopped = StartHolding();
        ProcessSignals.Stop(stopped.Id);

        Assert.Equal(LevelStatus.Failed, await level.ClearAsync(default));
        foreach (string key in keys)
        {
            Assert.Null(await Read(level, key));
            Assert.Equal(Dune, await Read(other, key));
        }

        Assert.Equal(Tag.Unknown, await ReadStamp(level, "tag"));
        Assert.Equal(LevelStatus.Failed, (await Acquire(level, keys[0])).Status);
        Assert.Equal(LevelStatus.Failed, await Write(level, "leased", Dune, lease: leased.Lease));
        Assert.Equal(LevelStatus.Failed, await Write(level, keys[0], [1]));
        Release(stopped);

        // Before the retry: a value that is written now is newer than the clear.
        Assert.Equal(LevelStatus.Done, await Write(level, keys[0], [2]));
        Assert.Equal(LevelStatus.LeaseLost, await Write(level, "leased", Dune, lease: leased.Lease));
        Assert.NotInRange(await ReadStamp(level, "tag"), stamp, stamp);
        foreach (string key in keys[1..])
        {
            await Until(async () => await Read(other, key) is null);
        }

        Assert.Equal([2], await Read(other, keys[0]));
    }

    [Fact]
    public async Task Clearing_that_was_held_up_is_done_when_the_level_is_closed()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        await Write(level, "key", Dune);
        using ChildProcess stopped = StartHolding();
        ProcessSignals.Stop(stopped.Id);
        Assert.Equal(LevelStatus.Failed, await level.ClearAsync(default));
        Release(stopped);

        await level.DisposeAsync();

        Assert.Null(await Read(other, "key"));
    }

    [Fact]
    public async Task Wait_for_a_lease_ends_although_a_process_is_stopped_with_every_lock()
    {
        StoreLevel level = Open();
        StoreLevel other = Open();
        using ChildProcess stopped = ChildProcess.Start(typeof(Program), "hold-locks", FilePath);
        Assert.Equal("opened", stopped.ReadLine());
        await Acquire(level, "key");
        Task<LeaseResult> waiting = Acquire(other, "key", TimeSpan.FromMilliseconds(300));
        Task<LeaseResult> waitingLonger = Acquire(other, "key", Long);
        stopped.WriteLine("hold");
        Assert.Equal("holding", stopped.ReadLine());
        ProcessSignals.Stop(stopped.Id);

        Assert.Equal(LevelStatus.Held, (await waiting).Status);
        Assert.False(waitingLonger.IsCompleted);
        Release(stopped);
        await Remove(level, "key");

        Assert.Equal(LevelStatus.Done, (await waitingLonger).Status);
    }

    // Waits for the work of a timer or of another process.
    private static async Task Until(Func<Task<bool>> condition)
    {
        long start = Stopwatch.GetTimestamp();
        while (!await condition())
        {
            Assert.True(Stopwatch.GetElapsedTime(start) < Long);
            await Task.Delay(1); // No event reports the condition.
        }
    }

    private static void Release(ChildProcess holder)
    {
        ProcessSignals.Continue(holder.Id);
        holder.WriteLine("release");
        Assert.Equal("released", holder.ReadLine());
    }

    private ChildProcess StartHolding()
    {
        ChildProcess child = ChildProcess.Start(typeof(Program), "hold-locks", FilePath);
        Assert.Equal("opened", child.ReadLine());
        child.WriteLine("hold");
        Assert.Equal("holding", child.ReadLine());
        return child;
    }
}
