using System.Globalization;
using Cairn.Steps;
using Xunit.Abstractions;
using static Cairn.Steps.ProtocolStep;

namespace Cairn.TortureTests.Kills;

/// <summary>
/// A process dies at every step of every protocol, and the store stays consistent. It has no wrong, torn, stale or resurrected value, and every lock is
/// released. The next process repairs the state that the dead process left.
/// </summary>
public sealed class InjectedDeathTests(ITestOutputHelper output)
{
    private const long SmallCapacityBytes = 1L << 20;

    /// <summary>The smallest capacity whose segments are longer than the largest value that is copied under the lock.</summary>
    private const long GapCapacityBytes = 128L << 20;

    /// <summary>The average entry size for a store of 1 MiB whose index has fewer slots than the workers have kept keys.</summary>
    private const int OverflowingEntryBytes = 16 * 1024;

    private const int FewDeaths = 2;
    private const int ManyDeaths = 200;
    private const int MostReaches = 60;
    private const int Workers = 3;

    // Steps at which no process can die.
    private static readonly ProtocolStep[] Unreachable =
    [
        None,
        ReadValidated, // Only the return to the caller follows in the protocol.
        LockSeenFree, // Nothing is held or changed at these steps; they exist for schedules.
        LockSeenTaken,
        LockSeenDead,
        ReadEntryFound,
        KillValidated,
        LeaseSeenHeld,
        RingCellsRead,
    ];

    // The steps that a process passes while it holds the lock.
    private static readonly ProtocolStep[] Locked =
    [
        LockTaken, EntryCopied, TailStored, BucketVersionRaised, SlotStored, SlotCleared, CountersStored, RingCellStored,
        RingPositionStored, SegmentTaken, SegmentOpened, SegmentSealed, VictimChosen, SurvivorCopied, SurvivorMoved, VictimCleared,
        SegmentRecycled, SweepBegun, SweepAdvanced, WatermarkRaised, LeaseWritten,
    ];

    private static readonly ProtocolStep[] Working =
    [
        .. Locked, LockReleasing, LargeCopied, RunSegmentReserved, RunPublished, ReadVersionLoaded, ReadSlotLoaded, ReadEntryCopied,
        PinStored, PinValidated, OpenGateTaken, OwnerSlotTaken, OwnerSlotCleaned,
    ];

    private static readonly ProtocolStep[] Recovering =
        [RecoveryStarted, RecoveryQueuesRebuilt, RecoveryBucketChecked, RecoveryFinished];

    private static readonly ProtocolStep[] TakingOver = [LockTakenOver, .. Recovering, LockReleasing];

    private static readonly ProtocolStep[] Inheriting = [OwnerSlotTaken, LockTakingOver, .. Recovering, LockReleasing, OwnerSlotCleaned];

    private static readonly ProtocolStep[] Alone =
        [OpenGateTaken, OwnerSlotTaken, .. Recovering, OwnerSlotCleaned, CloseFlushed, CloseMarked];

    // Without the gate's step: until the reset begins, nothing in the file shows the restart. Only the victim assumes it.
    private static readonly ProtocolStep[] Restarted = [ResetStarted, OwnerSlotTaken, CloseFlushed, CloseMarked];

    // The steps with an index so small that the buckets of some kept entries are full of others.
    private static readonly ProtocolStep[] Overflowing = [OverflowRaised, SlotStored, SlotCleared, SurvivorMoved, RecoveryQueuesRebuilt];

    private static readonly ProtocolStep[] Gaps = [GapReserved, LargeCopied];

    private static readonly ProtocolStep[] GrowingUp = [Growing, Grown];

    private static readonly ProtocolStep[] WithoutLock = [KillSlot];

    private static int Deaths => TortureRun.IsLong ? ManyDeaths : FewDeaths;

    [Fact]
    public void Every_step_is_one_that_some_process_dies_at()
    {
        ProtocolStep[][] all = [Working, TakingOver, Inheriting, Alone, Restarted, Overflowing, Gaps, GrowingUp, WithoutLock, LogDeathTests.Steps, CheckpointDeathTests.Steps, Unreachable];

        Assert.Empty(Enum.GetValues<ProtocolStep>().Except(all.SelectMany(steps => steps)));
    }

    [Fact]
    public void Death_at_any_step_of_reading_and_writing_harms_no_other_process() =>
        DieAtEach(nameof(Death_at_any_step_of_reading_and_writing_harms_no_other_process), Working, (run, step, random) =>
            Die(run, VictimTask.Work, step, random));

    [Fact]
    public void Death_of_a_taker_in_the_recovery_is_recovered_from() =>
        DieAtEach(nameof(Death_of_a_taker_in_the_recovery_is_recovered_from), TakingOver, (run, step, random) =>
        {
            using ChildProcess taker = Start(run, VictimTask.Work, step, Reaches(step, random), random);
            Assert.Equal("open", taker.ReadLine());
            Die(run, VictimTask.Work, Locked[random.Next(Locked.Length)], random);
            GoAndDie(taker, step);
        });

    [Fact]
    public void Death_of_the_next_holder_of_an_owner_slot_in_its_clean_up_is_recovered_from() =>
        DieAtEach(nameof(Death_of_the_next_holder_of_an_owner_slot_in_its_clean_up_is_recovered_from), Inheriting, (run, step, random) =>
        {
            Die(run, VictimTask.Work, Locked[random.Next(Locked.Length)], random);
            Die(run, VictimTask.Work, step, random);
        });

    [Fact]
    public void Death_of_the_only_process_while_it_opens_or_closes_a_store_harms_no_later_one() =>
        DieAtEach(nameof(Death_of_the_only_process_while_it_opens_or_closes_a_store_harms_no_later_one), Alone, (run, step, random) =>
        {
            Die(run, VictimTask.Work, Locked[random.Next(Locked.Length)], random);
            Die(run, VictimTask.Reopen, step, random);
        }, isAlone: true);

    [Fact]
    public void Death_after_a_restart_of_the_machine_brings_nothing_back() =>
        DieAtEach(nameof(Death_after_a_restart_of_the_machine_brings_nothing_back), Restarted, (run, step, random) =>
        {
            Die(run, VictimTask.Work, Locked[random.Next(Locked.Length)], random);
            using (KillJournal journal = run.OpenJournal())
            {
                journal.ForgetAll();
            }

            Die(run, VictimTask.ReopenAfterRestart, step, random);
            using (KillJournal journal = run.OpenJournal())
            {
                journal.KeepNothing(); // For the next opening, the machine has restarted once more.
            }
        }, isAlone: true);

    [Fact]
    public void Death_in_the_middle_of_a_long_value_leaves_a_gap() =>
        DieAtEach(nameof(Death_in_the_middle_of_a_long_value_leaves_a_gap), Gaps, (run, step, random) =>
            Die(run, VictimTask.WriteGaps, step, random), capacityBytes: GapCapacityBytes);

    [Fact]
    public void Death_where_the_index_overflows_harms_no_other_process() =>
        DieAtEach(nameof(Death_where_the_index_overflows_harms_no_other_process), Overflowing, (run, step, random) =>
        {
            if (step == RecoveryQueuesRebuilt)
            {
                Die(run, VictimTask.Work, Locked[random.Next(Locked.Length)], random);
            }

            Die(run, VictimTask.Work, step, random);
        }, averageEntryBytes: OverflowingEntryBytes);

    [Fact]
    public void Death_while_the_store_grows_harms_no_other_process() =>
        DieAtEach(nameof(Death_while_the_store_grows_harms_no_other_process), GrowingUp, (run, step, random) =>
            Die(run, VictimTask.Work, step, random),
            capacityBytes: 2 * SmallCapacityBytes, maxCapacityBytes: 6 * SmallCapacityBytes, isNewEachTime: true);

    [Fact]
    public void Death_after_retracting_a_value_without_the_lock_harms_no_other_process() =>
        DieAtEach(nameof(Death_after_retracting_a_value_without_the_lock_harms_no_other_process), WithoutLock, (run, step, random) =>
            Die(run, VictimTask.WriteWithoutLock, step, random));

    // Returns how often the step is reached before the victim dies. An opening, a recovery or a growth passes some steps once, or rarely.
    private static int Reaches(ProtocolStep step, Random random) => step switch
    {
        // Few entries expire while the victim works. Their number depends on the speed of the machine.
        SweepBegun or SweepAdvanced => 1,
        LockTakenOver or LockTakingOver or RecoveryStarted or RecoveryQueuesRebuilt or RecoveryFinished
            or OwnerSlotTaken or OwnerSlotCleaned or OpenGateTaken or ResetStarted or KillSlot or OverflowRaised => 1,
        Growing or Grown or CloseFlushed or CloseMarked or WatermarkRaised => random.Next(1, 4),
        _ => (int)Math.Pow(MostReaches, random.NextDouble()),
    };

    private static ChildProcess Start(KillRun run, VictimTask task, ProtocolStep step, int reaches, Random random) =>
        ChildProcess.Start(
            typeof(Program),
            "kill-victim",
            run.Directory,
            run.Workers.ToString(CultureInfo.InvariantCulture),
            random.Next().ToString(CultureInfo.InvariantCulture),
            task.ToString(),
            step.ToString(),
            reaches.ToString(CultureInfo.InvariantCulture));

    private static void Die(KillRun run, VictimTask task, ProtocolStep step, Random random)
    {
        using ChildProcess victim = Start(run, task, step, Reaches(step, random), random);
        string line = victim.ReadLine();
        if (line == "open")
        {
            GoAndDie(victim, step);
            return;
        }

        Assert.Equal("dying", line);
        victim.Kill();
    }

    private static void GoAndDie(ChildProcess victim, ProtocolStep step)
    {
        try
        {
            victim.WriteLine("go");
        }
        catch (IOException)
        {
            // It is dead already: the sweep of the store that it has open came to the step first.
        }

        Assert.Equal((step, "dying"), (step, victim.ReadLine()));
        victim.Kill();
    }

    private void DieAtEach(
        string test, ProtocolStep[] steps, Action<KillRun, ProtocolStep, Random> die, long capacityBytes = SmallCapacityBytes,
        long maxCapacityBytes = 0, int? averageEntryBytes = null, bool isAlone = false, bool isNewEachTime = false)
    {
        var torture = new TortureRun(output, test);
        int deaths = 0;
        ProtocolStep[] order = [.. Enumerable.Range(0, Deaths).SelectMany(_ => steps)];
        torture.Random.Shuffle(order);
        foreach (ProtocolStep[] lives in isNewEachTime ? order.Chunk(1) : [order])
        {
            using var directory = new StoreDirectory();
            var run = new KillRun(directory.Path, Workers);
            using KillJournal journal = run.OpenJournal();
            var survivor = new KillSurvivor(
                run, journal, torture.Random, capacityBytes == GapCapacityBytes ? KillSizes.Gaps : KillSizes.Runs,
                directory.Options with
                {
                    CapacityBytes = capacityBytes,
                    MaxCapacityBytes = maxCapacityBytes,
                    AverageEntryBytes = averageEntryBytes ?? directory.Options.AverageEntryBytes,
                });
            try
            {
                KillWork work = survivor.Work;
                for (int i = 0; i < 500; i++)
                {
                    work.DoNext();
                }

                foreach (ProtocolStep step in lives)
                {
                    if (isAlone)
                    {
                        survivor.Close();
                    }

                    deaths++;
                    Step(() => die(run, step, torture.Random), step, deaths, torture);
                    Step(survivor.Check, step, deaths, torture);
                }
            }
            finally
            {
                survivor.Close();
            }
        }

        output.WriteLine($"{deaths} deaths at {steps.Length} steps.");
    }

    private static void Step(Action action, ProtocolStep step, int number, TortureRun torture)
    {
        try
        {
            action();
        }
        catch (Exception fault)
        {
            throw new InvalidOperationException($"Death {number}, at {step}: {fault.Message}\nAgain: {torture.Replay}", fault);
        }
    }
}
