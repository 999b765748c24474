using System.Runtime.CompilerServices;
using Cairn.Concurrency;
using Xunit.Abstractions;
using static Cairn.Steps.ProtocolStep;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// The lock of a partition, handed over between openings, taken over from a dead owner, and inherited by the next holder of the owner's slot. Two
/// threads never hold it at the same time, and every sleeping waiter is woken. Broken twins admit two holders, or leave a waiter asleep.
/// </summary>
public sealed unsafe class LockInterleavingTests(ITestOutputHelper output) : IDisposable
{
    private const int Openings = 3;
    private const uint SomeEpoch = 77u << 8;

    private readonly Stage _stage = new(Openings);

    // The slot that the next opening takes. Until then no process has it.
    private static uint DeadSlot => Openings + 1;

    public void Dispose() => _stage.Dispose();

    [Fact]
    public void Lock_is_handed_over_between_two()
    {
        Explored explored = Explore().ExpectHolds(
            () => Arrange(SomeEpoch, inside => [() => Work(inside, 0, rounds: 2), () => Work(inside, 1, rounds: 2)]));

        Assert.True(explored.Sleeps > 0);
    }

    [Fact]
    public void Lock_is_handed_over_between_three()
    {
        Explored explored = Explore().ExpectHolds(
            () => Arrange(SomeEpoch, inside => [() => Work(inside, 0), () => Work(inside, 1), () => Work(inside, 2)]));

        Assert.True(explored.Sleeps > 0);
    }

    [Fact]
    public void Lock_is_handed_over_between_threads_of_one_opening() =>
        Explore().ExpectHolds(
            () => Arrange(SomeEpoch, inside => [() => Work(inside, 0, rounds: 2), () => Work(inside, 0, rounds: 2)]));

    [Fact]
    public void Lock_of_a_dead_owner_is_taken_over_once() =>
        Explore().ExpectHolds(
            () => Arrange(SomeEpoch | DeadSlot, inside => [() => Work(inside, 0), () => Work(inside, 1)], takeovers: 1));

    [Fact]
    public void Lock_of_a_dead_owner_is_taken_over_once_by_three() =>
        Explore().ExpectHolds(() => Arrange(
            SomeEpoch | DeadSlot, inside => [() => Work(inside, 0), () => Work(inside, 1), () => Work(inside, 1)], takeovers: 1));

    [Fact]
    public void Lock_is_not_taken_over_from_the_next_holder_of_the_dead_owner_s_slot() =>
        Explore().ExpectHolds(() => Arrange(SomeEpoch | DeadSlot, inside => [() => Work(inside, 0), () => OpenAndWork(inside)]));

    [Fact]
    public void Lock_that_is_taken_without_comparing_is_caught() => ExpectCaught(LockDefect.TakesWithoutComparing, SomeEpoch);

    [Fact]
    public void Lock_that_is_taken_over_without_comparing_is_caught() =>
        ExpectCaught(LockDefect.TakesOverWithoutComparing, SomeEpoch | DeadSlot);

    [Fact]
    public void Lock_that_is_taken_over_whatever_its_epoch_is_caught() => Explore().ExpectCaught(
        () => Arrange(SomeEpoch | DeadSlot, inside => [() => Work(inside, 0, LockDefect.TakesOverWithoutEpoch), () => OpenAndWork(inside)]));

    [Fact]
    public void Lock_whose_waiters_announce_themselves_without_comparing_is_caught() =>
        ExpectCaught(LockDefect.AnnouncesWithoutComparing, SomeEpoch);

    [Fact]
    public void Lock_that_is_released_without_exchanging_is_caught() => ExpectCaught(LockDefect.ReleasesWithoutExchanging, SomeEpoch);

    [Fact]
    public void Lock_that_is_released_without_waking_is_caught() => ExpectCaught(LockDefect.ReleasesWithoutWaking, SomeEpoch);

    [Fact]
    public void Twin_without_a_defect_holds()
    {
        Explore().ExpectHolds(() => ArrangeBroken(LockDefect.None, SomeEpoch));
        Explore().ExpectHolds(() => ArrangeBroken(LockDefect.None, SomeEpoch | DeadSlot));
    }

    private Exploration Explore([CallerMemberName] string test = "") => new(output, test)
    {
        // A whole recovery is one step, because it runs while the lock is held.
        Quiet = [RecoveryStarted, RecoveryQueuesRebuilt, RecoveryBucketChecked, RecoveryFinished],
    };

    private void ExpectCaught(LockDefect defect, uint word, [CallerMemberName] string test = "") =>
        Explore(test).ExpectCaught(() => ArrangeBroken(defect, word));

    private Scene ArrangeBroken(LockDefect defect, uint word) =>
        Arrange(word, inside => [() => Work(inside, 0, defect), () => Work(inside, 1, defect)]);

    private Scene Arrange(uint word, Func<Inside, Action[]> actors, int? takeovers = null)
    {
        _stage.Reset();
        _stage.Partition->LockWord = word;
        var inside = new Inside();
        return new Scene(() => inside.Fault ?? FaultAtRest() ?? FaultOf(takeovers, inside.Takeovers), actors(inside));
    }

    private string? FaultAtRest() =>
        PartitionLock.OwnerOf(_stage.Partition->LockWord) == 0 ? null : "The lock was not given back.";

    private static string? FaultOf(int? expected, int takeovers) =>
        expected is null || expected == takeovers ? null : $"Taken over {takeovers} times.";

    private void Work(Inside inside, int opening, int rounds = 1) => Work(inside, _stage[opening], rounds);

    private void Work(Inside inside, CairnStore store, int rounds)
    {
        var partitionLock = new PartitionLock(store.Engine.Owners, ScheduledPlatform.Instance);
        for (int i = 0; i < rounds; i++)
        {
            LockOutcome outcome = partitionLock.Acquire(_stage.Partition, TimeSpan.FromHours(1));
            Assert.NotEqual(LockOutcome.TimedOut, outcome);
            inside.Takeovers += outcome == LockOutcome.TakenOver ? 1 : 0;
            inside.Be();
            partitionLock.Release(_stage.Partition);
        }
    }

    private void Work(Inside inside, int opening, LockDefect defect)
    {
        var partitionLock = new BrokenLock(_stage[opening].Engine.Owners, ScheduledPlatform.Instance, defect);
        partitionLock.Acquire(_stage.Partition);
        inside.Be();
        partitionLock.Release(_stage.Partition);
    }

    // The next holder of the dead owner's slot first cleans up after that owner.
    private void OpenAndWork(Inside inside)
    {
        using CairnStore store = ScheduledPlatform.OpenStore(_stage.Options with { TakesAnySlot = true });
        Assert.Equal((int)DeadSlot, store.Engine.Owners.Slot);
        Work(inside, store, rounds: 1);
    }

    // The state that the lock protects.
    private sealed class Inside
    {
        private int _count;

        public int Takeovers { get; set; }

        public string? Fault { get; private set; }

        public void Be()
        {
            Fault ??= _count == 0 ? null : "Two are inside.";
            _count++;
            Schedule.Step();
            _count--;
        }
    }
}
