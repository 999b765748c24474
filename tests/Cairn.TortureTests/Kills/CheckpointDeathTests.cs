using System.Globalization;
using Cairn.Concurrency;
using Xunit.Abstractions;
using static Cairn.Concurrency.ProtocolStep;

namespace Cairn.TortureTests.Kills;

/// <summary>
/// A process dies at every step of making a snapshot, and of building a store anew: what it had acknowledged is there, and what is there is what
/// snapshot and log say.
/// </summary>
public sealed class CheckpointDeathTests(ITestOutputHelper output)
{
    internal static ProtocolStep[] Saving { get; } = [CheckpointStarted, CheckpointCopied, CheckpointFlushed, CheckpointNamed, LogFileDeleting];

    internal static ProtocolStep[] Rebuilding { get; } = [LogRecordReplayed, LogRebuilt];

    internal static ProtocolStep[] Steps => [.. Saving, .. Rebuilding];

    [Fact]
    public void Death_at_any_step_of_a_checkpoint_loses_nothing() =>
        DieAtEach(nameof(Death_at_any_step_of_a_checkpoint_loses_nothing), Saving);

    [Fact]
    public void Death_of_who_builds_a_store_anew_leaves_it_to_the_next() =>
        DieAtEach(nameof(Death_of_who_builds_a_store_anew_leaves_it_to_the_next), [.. Saving, .. Rebuilding, .. Rebuilding]);

    private void DieAtEach(string test, ProtocolStep[] steps)
    {
        var torture = new TortureRun(output, test);
        ProtocolStep[] order = [.. Enumerable.Range(0, TortureRun.Count(2, 100)).SelectMany(_ => steps)];
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
                Die(directory.Path, step, torture.Random);
                using CairnStore store = CairnStore.Open(LogRoles.OptionsFor(directory.Path));
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
