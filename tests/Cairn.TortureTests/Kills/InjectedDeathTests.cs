using System.Globalization;
using Cairn.Concurrency;
using Xunit.Abstractions;
using static Cairn.Concurrency.ProtocolStep;

namespace Cairn.TortureTests.Kills;

/// <summary>
/// A process dies at every step of every protocol, and the store stays whole: no wrong, torn, stale or resurrected value, no lock that
/// nobody gives back, and what was left is put right by whoever comes next.
/// </summary>
public sealed class InjectedDeathTests(ITestOutputHelper output)
{
    private const long SmallCapacityBytes = 1L << 20;

    /// <summary>The least whose segments are longer than what is copied under the lock.</summary>
    private const long GapCapacityBytes = 128L << 20;

    /// <summary>Of a store of a MiB: its index has fewer slots than the workers have kept keys.</summary>
    private const int OverflowingEntryBytes = 16 * 1024;

    private const int FewDeaths = 2;
    private const int ManyDeaths = 200;
    private const int MostReaches = 60;
    private const int Workers = 3;

    // Steps that no process can die at.
    private static readonly ProtocolStep[] Unreachable =
    [
        None,
        ReadValidated, // Nothing follows in the protocol but the return to the caller.
        LockSeenFree, // Nothing is held or changed at these; they are there for schedules.
        LockSeenTaken,
        LockSeenDead,
        ReadEntryFound,
        KillValidated,
        LeaseSeenHeld,
        RingCellsRead,
    ];

    // What a process can do with the lock in its hands.
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

    private static readonly ProtocolStep[] Stealing = [LockStolen, .. Recovering, LockReleasing];

    private static readonly ProtocolStep[] Inheriting = [OwnerSlotTaken, LockSeizing, .. Recovering, LockReleasing, OwnerSlotCleaned];

    private static readonly ProtocolStep[] Alone =
        [OpenGateTaken, OwnerSlotTaken, .. Recovering, OwnerSlotCleaned, CloseFlushed, CloseMarked];

    // Not the gate: until the emptying begins, nothing in the file tells of the restart, which only the victim believes in.
    private static readonly ProtocolStep[] Restarted = [ResetStarted, OwnerSlotTaken, CloseFlushed, CloseMarked];

    // Where the index is so small that kept entries find only others where they belong.
    private static readonly ProtocolStep[] Overflowing = [OverflowRaised, SlotStored, SlotCleared, SurvivorMoved, RecoveryQueuesRebuilt];

    private static readonly ProtocolStep[] Gaps = [GapReserved, LargeCopied];

    private static readonly ProtocolStep[] GrowingUp = [Growing, Grown];

    private static readonly ProtocolStep[] WithoutLock = [KillSlot];

    private static int Deaths => TortureRun.IsLong ? ManyDeaths : FewDeaths;

    [Fact]
    public void Every_step_is_one_that_some_process_dies_at()
    {
        ProtocolStep[][] all = [Working, Stealing, Inheriting, Alone, Restarted, Overflowing, Gaps, GrowingUp, WithoutLock, LogDeathTests.Steps, CheckpointDeathTests.Steps, Unreachable];

        Assert.Empty(Enum.GetValues<ProtocolStep>().Except(all.SelectMany(steps => steps)));
    }

    [Fact]
    public void Death_at_any_step_of_reading_and_writing_harms_nobody() =>
        DieAtEach(nameof(Death_at_any_step_of_reading_and_writing_harms_nobody), Working, (run, step, random) =>
            Die(run, VictimTask.Work, step, random));

    [Fact]
    public void Death_of_a_thief_in_the_recovery_is_recovered_from() =>
        DieAtEach(nameof(Death_of_a_thief_in_the_recovery_is_recovered_from), Stealing, (run, step, random) =>
        {
            using ChildProcess thief = Start(run, VictimTask.Work, step, Reaches(step, random), random);
            Assert.Equal("open", thief.ReadLine());
            Die(run, VictimTask.Work, Locked[random.Next(Locked.Length)], random);
            GoAndDie(thief, step);
        });

    [Fact]
    public void Death_of_the_next_holder_of_an_owner_slot_in_its_clean_up_is_recovered_from() =>
        DieAtEach(nameof(Death_of_the_next_holder_of_an_owner_slot_in_its_clean_up_is_recovered_from), Inheriting, (run, step, random) =>
        {
            Die(run, VictimTask.Work, Locked[random.Next(Locked.Length)], random);
            Die(run, VictimTask.Work, step, random);
        });

    [Fact]
    public void Death_of_who_opens_or_closes_a_store_alone_harms_nobody() =>
        DieAtEach(nameof(Death_of_who_opens_or_closes_a_store_alone_harms_nobody), Alone, (run, step, random) =>
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
                journal.KeepNothing(); // To who opens it next, the machine has restarted once more.
            }
        }, isAlone: true);

    [Fact]
    public void Death_in_the_middle_of_a_long_value_leaves_a_gap() =>
        DieAtEach(nameof(Death_in_the_middle_of_a_long_value_leaves_a_gap), Gaps, (run, step, random) =>
            Die(run, VictimTask.WriteGaps, step, random), capacityBytes: GapCapacityBytes);

    [Fact]
    public void Death_where_the_index_overflows_harms_nobody() =>
        DieAtEach(nameof(Death_where_the_index_overflows_harms_nobody), Overflowing, (run, step, random) =>
        {
            if (step == RecoveryQueuesRebuilt)
            {
                Die(run, VictimTask.Work, Locked[random.Next(Locked.Length)], random);
            }

            Die(run, VictimTask.Work, step, random);
        }, averageEntryBytes: OverflowingEntryBytes);

    [Fact]
    public void Death_while_the_store_grows_harms_nobody() =>
        DieAtEach(nameof(Death_while_the_store_grows_harms_nobody), GrowingUp, (run, step, random) =>
            Die(run, VictimTask.Work, step, random),
            capacityBytes: 2 * SmallCapacityBytes, maxCapacityBytes: 6 * SmallCapacityBytes, isNewEachTime: true);

    [Fact]
    public void Death_after_retracting_a_value_without_the_lock_harms_nobody() =>
        DieAtEach(nameof(Death_after_retracting_a_value_without_the_lock_harms_nobody), WithoutLock, (run, step, random) =>
            Die(run, VictimTask.WriteWithoutLock, step, random));

    // Steps that are passed once in an opening, a recovery or a growth, or seldom; the others are passed all the time.
    private static int Reaches(ProtocolStep step, Random random) => step switch
    {
        // Few entries expire while the victim works: how many depends on how fast the machine is.
        SweepBegun or SweepAdvanced => 1,
        LockStolen or LockSeizing or RecoveryStarted or RecoveryQueuesRebuilt or RecoveryFinished
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
        victim.WriteLine("go");
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
