using System.Globalization;
using Cairn.Concurrency;
using Cairn.Steps;
using Xunit.Abstractions;
using static Cairn.Steps.ProtocolStep;

namespace Cairn.TortureTests.Kills;

/// <summary>
/// A process dies at every step of logging. The store keeps everything that the process had acknowledged. It contains each transaction as a whole or
/// not at all, and has the content of the log.
/// </summary>
public sealed class LogDeathTests(ITestOutputHelper output)
{
    private static readonly ProtocolStep[] Working =
    [
        LogRecordWritten, LogPendingStored, LogTailMoved, LogPendingCleared, LogFileFlushed, LogFileCreated, LogRolledOver, LogWaiting,
        LogSynchronising, LogSynchronised,
    ];

    // Steps that are passed while the locks are held, with or without a record.
    private static readonly ProtocolStep[] Locked = [LockTaken, EntryCopied, SlotStored, SlotCleared, CountersStored, SegmentOpened, WatermarkRaised, RunPublished];

    private static readonly ProtocolStep[] Repairing = [LogTailRepaired, LogRedone];

    internal static ProtocolStep[] Steps => [.. Working, .. Repairing];

    [Fact]
    public void Death_at_any_step_of_logging_loses_nothing_and_leaves_no_half() =>
        DieAtEach(nameof(Death_at_any_step_of_logging_loses_nothing_and_leaves_no_half), [.. Working, .. Locked], Die);

    [Fact]
    public void Death_of_a_process_that_repairs_the_log_is_recovered_from() =>
        DieAtEach(nameof(Death_of_a_process_that_repairs_the_log_is_recovered_from), Repairing, (directory, step, random) =>
        {
            ProtocolStep[] before = step == LogTailRepaired ? [LogRecordWritten, LogPendingStored] : [LogTailMoved];
            Die(directory, before[random.Next(before.Length)], random);
            Die(directory, step, random, reaches: 1);
        });

    private static void Die(string directory, ProtocolStep step, Random random) => Die(
        directory, step, random,
        step == LogWaiting ? 1
            : step is LogFileFlushed or LogFileCreated or LogRolledOver or SegmentOpened or RunPublished or WatermarkRaised
            ? random.Next(1, 4)
            : (int)Math.Pow(150, random.NextDouble()));

    private static void Die(string directory, ProtocolStep step, Random random, int reaches)
    {
        using ChildProcess victim = ChildProcess.Start(
            typeof(Program), "log-victim", directory,
            random.Next().ToString(CultureInfo.InvariantCulture), step.ToString(), reaches.ToString(CultureInfo.InvariantCulture));
        Assert.Equal((step, "dying"), (step, victim.ReadLine()));
        victim.Kill();
        victim.WaitForExit();
    }

    private void DieAtEach(string test, ProtocolStep[] steps, Action<string, ProtocolStep, Random> die)
    {
        var torture = new TortureRun(output, test);
        ProtocolStep[] order = [.. Enumerable.Range(0, TortureRun.Count(1, 100)).SelectMany(_ => steps)];
        torture.Random.Shuffle(order);
        using var directory = new StoreDirectory();

        // The audit reads a store at rest, so this process does not sweep by itself.
        StoreOptions options = LogRoles.OptionsFor(directory.Path) with { RemovesExpired = false };
        int deaths = 0;
        CairnStore? store = null;
        try
        {
            foreach (ProtocolStep step in order)
            {
                // The state that a dead process leaves is found either by an existing opening, or by the first process that opens the store again.
                if (torture.Random.Next(3) == 0)
                {
                    store?.Dispose();
                    store = null;
                }

                store ??= CairnStore.Open(options);
                if (torture.Random.Next(4) == 0)
                {
                    store.Dispose();
                    store = null;
                }

                deaths++;
                try
                {
                    die(directory.Path, step, torture.Random);
                    store ??= CairnStore.Open(options);
                    if (torture.Random.Next(2) == 0)
                    {
                        store.SweepExpired(); // Can take over the lock of the dead process.
                    }

                    Check(store, directory.Path);
                }
                catch (Exception fault)
                {
                    throw new InvalidOperationException($"Death {deaths}, at {step}: {fault.Message}\nAgain: {torture.Replay}", fault);
                }
            }
        }
        finally
        {
            store?.Dispose();
        }

        output.WriteLine($"{deaths} deaths at {steps.Length} steps.");
    }

    private static void Check(CairnStore store, string directory)
    {
        // Takes over all locks that the dead process held, and recovers their partitions.
        var hold = new PartitionHold(store.PartitionCount);
        hold.AddAll();
        Assert.True(store.Engine.TryHold(hold));
        store.Engine.EndHold(hold);
        using var work = new LogWork(store, directory);
        work.WriteAnything(); // Takes the log's lock too. Its holder removes records written behind the tail.
        work.Check();
        LogReplay.Check(store, work.Collections);

        // The next holder of an owner slot cleans up after the process that died with it.
        using (CairnStore.Open(LogRoles.OptionsFor(directory) with { TakesAnySlot = true, RemovesExpired = false }))
        {
            StoreAudit.Check(store, areBooksExact: false);
        }
    }
}
