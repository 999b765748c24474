using System.Globalization;
using Cairn.Steps;
using Xunit.Abstractions;
using static Cairn.Steps.ProtocolStep;

namespace Cairn.TortureTests.Kills;

/// <summary>
/// A process dies at every step of writing a snapshot and of rebuilding a store. The store keeps everything that the process had acknowledged. It
/// has the content of snapshot and log.
/// </summary>
public sealed class CheckpointDeathTests(ITestOutputHelper output)
{
    // The steps of opening a closed store whose log is missing. Until the last of them the file is marked as closed.
    private static readonly ProtocolStep[] Establishing =
        [LogDisowned, CheckpointStarted, CheckpointCopied, CheckpointFlushed, CheckpointNamed, LogEstablished, LogFileDeleting, LogAdopted];

    internal static ProtocolStep[] Saving { get; } = [CheckpointStarted, CheckpointCopied, CheckpointFlushed, CheckpointNamed, LogFileDeleting];

    internal static ProtocolStep[] Rebuilding { get; } = [LogRecordReplayed, LogRebuilt];

    internal static ProtocolStep[] Steps => [.. Saving, .. Rebuilding, .. Establishing];

    [Fact]
    public void Death_at_any_step_of_a_checkpoint_loses_nothing() =>
        DieAtEach(nameof(Death_at_any_step_of_a_checkpoint_loses_nothing), Saving);

    [Fact]
    public void Death_of_a_process_that_rebuilds_a_store_leaves_the_work_to_the_next() =>
        DieAtEach(nameof(Death_of_a_process_that_rebuilds_a_store_leaves_the_work_to_the_next), [.. Saving, .. Rebuilding, .. Rebuilding]);

    [Fact]
    public void Death_of_a_process_that_creates_a_lost_log_again_leaves_the_map_as_it_was_closed() =>
        DieAtEach(nameof(Death_of_a_process_that_creates_a_lost_log_again_leaves_the_map_as_it_was_closed), Establishing, losesLog: true);

    private void DieAtEach(string test, ProtocolStep[] steps, bool losesLog = false)
    {
        var torture = new TortureRun(output, test);
        ProtocolStep[] order = [.. Enumerable.Range(0, TortureRun.Count(losesLog ? 1 : 2, 100)).SelectMany(_ => steps)];
        torture.Random.Shuffle(order);
        using var directory = new StoreDirectory();
        using (CairnStore store = CairnStore.Open(LogRoles.OptionsFor(directory.Path)))
        {
            using var work = new LogWork(store, directory.Path);
            for (int i = 0; i < 300; i++)
            {
                work.DoNext(torture.Random);
            }
        }

        foreach (ProtocolStep step in order)
        {
            try
            {
                if (losesLog)
                {
                    LoseLog(directory.Path, torture.Random);
                }

                Die(directory.Path, step, torture.Random);

                // The content of a closed store counts even if the machine restarts now. Nothing that the dead process began makes it look outdated.
                using CairnStore store = LogRoles.OpenOn(directory.Path, isRestarted: losesLog && torture.Random.Next(2) == 0);
                Assert.True(!losesLog || store.Warnings.Count == 0, string.Join(" ", store.Warnings));
                using var work = new LogWork(store, directory.Path);
                work.WriteAnything();
                work.Check();
                LogReplay.Check(store, work.Collections);
            }
            catch (Exception fault)
            {
                throw new InvalidOperationException($"At {step}: {fault.Message}\nAgain: {torture.Replay}", fault);
            }
        }
    }

    // Deletes files of the log. The remaining files are at most pieces before the last one.
    private static void LoseLog(string directory, Random random)
    {
        StoreOptions options = LogRoles.OptionsFor(directory) with { FlushOnClose = true };
        using (CairnStore store = CairnStore.Open(options))
        {
            using var work = new LogWork(store, directory);
            for (int i = 0; i < 300; i++)
            {
                work.DoNext(random);
            }
        }

        string[] pieces = [.. Directory.GetFiles(directory, "*.log-*").Order(StringComparer.Ordinal)];
        Assert.True(pieces.Length > 3, $"There are only {pieces.Length} pieces.");
        foreach (string piece in pieces.Skip(pieces.Length - 1 - random.Next(2)))
        {
            File.Delete(piece);
        }

        if (random.Next(2) == 0)
        {
            File.Delete(options.Path + ".snapshot");
        }
    }

    private static void Die(string directory, ProtocolStep step, Random random)
    {
        using ChildProcess victim = ChildProcess.Start(
            typeof(Program), "log-victim", directory, random.Next().ToString(CultureInfo.InvariantCulture), step.ToString(),
            (step == LogRecordReplayed ? random.Next(1, 40) : step == LogFileDeleting ? random.Next(1, 3) : 1).ToString(CultureInfo.InvariantCulture));
        Assert.Equal((step, "dying"), (step, victim.ReadLine()));
        victim.Kill();
        victim.WaitForExit();
    }
}
