using Cairn.Steps;
using Cairn.TortureTests.Workloads;
using Xunit.Abstractions;
using static Cairn.Steps.ProtocolStep;

namespace Cairn.TortureTests.Processes;

/// <summary>
/// One of several processes that work on the same keys stops itself (SIGSTOP) at a step. The others do all their work, and then it continues. The
/// history of each key is that of a register that can lose its value.
/// </summary>
public sealed class StoppedWorkerTests(ITestOutputHelper output)
{
    private const int Others = 2;

    // Not every run reaches every step: for example, an entry survives an eviction only by chance.
    private static readonly ProtocolStep[] Steps =
    [
        LockTaken, EntryCopied, TailStored, BucketVersionRaised, SlotStored, SlotCleared, CountersStored, RingCellStored, RingPositionStored,
        LockReleasing, SegmentOpened, SegmentSealed, VictimChosen, SurvivorCopied, SurvivorMoved, VictimCleared, SegmentRecycled,
        LargeCopied, RunSegmentReserved, RunPublished, ReadVersionLoaded, ReadSlotLoaded, ReadEntryCopied, PinStored, PinValidated,
    ];

    [Fact]
    public async Task Process_that_was_stopped_anywhere_continues_without_harm()
    {
        var run = new TortureRun(output);
        ProtocolStep[] order = [.. Enumerable.Range(0, TortureRun.Count(1, 40)).SelectMany(_ => Steps)];
        run.Random.Shuffle(order);
        order = order[..TortureRun.Count(5, order.Length)];
        int stops = 0;
        foreach (ProtocolStep step in order)
        {
            stops += await Work(run, step) ? 1 : 0;
        }

        output.WriteLine($"Stopped in {stops} of {order.Length} runs.");
        Assert.InRange(stops, order.Length / 2, order.Length);
    }

    /// <summary>Runs the processes. Returns false if the step was not reached.</summary>
    private static async Task<bool> Work(TortureRun run, ProtocolStep step)
    {
        using var crew = new Crew();
        WorkerOptions Choose(WorkerOptions worker) => worker with
        {
            CapacityBytes = 2 << 20, // Eight partitions, which are soon full.
            Operations = 2_500,
            Seed = run.Random.Next(),
            LockTimeoutMs = 2,
        };
        Worker stopped = crew.Start(worker => Choose(worker) with { StopAt = step, Reach = run.Random.Next(1, 10) });
        Worker[] others = [.. Enumerable.Range(0, Others).Select(_ => crew.Start(Choose))];
        Assert.True(stopped.WaitUntilOpen());
        Assert.All(others, worker => Assert.True(worker.WaitUntilOpen()));

        stopped.Go();
        Task<bool> done = OwnThread.Run(stopped.WaitUntilDone);
        bool isStopped = ProcessSignals.WaitUntilStopped(stopped.ProcessId, orUntil: done);
        Array.ForEach(others, worker => worker.Go());
        Assert.All(others, worker => Assert.True(worker.WaitUntilDone()));
        ProcessSignals.Continue(stopped.ProcessId);

        Assert.True(await done, $"at {step}");
        Assert.All(others.Append(stopped), worker => Assert.True(worker.WaitUntilClosed()));
        crew.ExpectLinearizable(run);
        using CairnStore store = CairnStore.Open(new StoreOptions { Path = crew.StorePath, FlushOnClose = false });
        StoreAudit.Check(store, areBooksExact: false);
        Assert.Equal((0, 0), (store.GetStatistics().Totals.DamagedEntries, store.GetStatistics().Totals.Recoveries));
        return isStopped;
    }
}
