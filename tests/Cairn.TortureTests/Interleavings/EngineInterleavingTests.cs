using System.Runtime.CompilerServices;
using Cairn.TortureTests.Workloads;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// Interleaves whole operations of two openings of a full store at every protocol step, in random orders that a seed repeats. Histories are
/// linearizable, pinned bytes do not change, and all counters are correct at the end.
/// </summary>
public sealed class EngineInterleavingTests(ITestOutputHelper output)
{
    private const int Actors = 3;
    private const int StepsOfActor = 8;

    [Fact]
    public void Operations_are_linearizable_in_random_orders_of_their_steps() =>
        ExpectLinearizable(TimeSpan.FromHours(1), areBooksExact: true);

    // In this mode, sets and removals retract without the lock whenever another thread holds it.
    [Fact]
    public void Operations_that_do_not_wait_for_locks_are_linearizable_in_random_orders_of_their_steps() =>
        ExpectLinearizable(TimeSpan.FromTicks(1), areBooksExact: false);

    private static void Work(Workload workload)
    {
        for (int i = 0; i < StepsOfActor; i++)
        {
            workload.Step();
        }
    }

    private void ExpectLinearizable(TimeSpan lockTimeout, bool areBooksExact, [CallerMemberName] string test = "")
    {
        var torture = new TortureRun(output, test);
        using var crew = new Crew();
        var options = new StoreOptions
        {
            Path = crew.StorePath,
            CapacityBytes = StoreLimits.MinCapacityBytes,
            OpenMode = StoreOpenMode.OpenExisting,
            LockTimeout = lockTimeout,
            FlushOnClose = false,
            TimeProvider = new ManualClock(),
            RemovesExpired = false, // Only the actors take steps.
        };
        Stage.Create(options, (ulong)torture.Seed);
        using CairnStore first = ScheduledPlatform.OpenStore(options);
        using CairnStore second = ScheduledPlatform.OpenStore(options);
        int runs = TortureRun.Count(1_500, 50_000);
        Workload[] workloads =
        [
            .. Enumerable.Range(0, Actors).Select(actor =>
            {
                CairnStore store = actor == 0 ? first : second;
                var keys = new WorkloadKeys(store, count: 6);
                return crew.OwnWorkload(store, keys, torture.RandomFor(-1 - actor), 4 * runs * StepsOfActor, longest: 9_000);
            }),
        ];
        for (int i = 0; i < 600; i++)
        {
            first.DefaultCollection.Set($"filler:before {i}", new byte[2_000]);
        }

        long steps = 0;
        for (int run = 0; run < runs; run++)
        {
            var chooser = new PriorityChooser(torture.RandomFor(run), Actors, changes: 6, steps: 300);
            ScheduleResult result = Schedule.Run(chooser, [], [.. workloads.Select(workload => (Action)(() => Work(workload)))]);
            if (result is not { IsStuck: false, Failure: null })
            {
                Stage.FreeLocks(first);
                Assert.Fail($"Run {run}: {result.Failure?.SourceException}{result.Story}\n{torture.Replay}");
            }

            steps += result.Order.Actors.Count;
        }

        long retractions = first.GetStatistics().Totals.Dropped;
        output.WriteLine($"{steps} steps in {runs} runs, {retractions} retractions without the lock");
        Assert.True(steps > 200L * runs, $"only {steps} steps in {runs} runs");

        // A long value that finds no room among the segments that others have reserved also retracts the old value without the lock.
        Assert.True(areBooksExact || retractions > 0, "nothing was retracted without the lock");
        crew.ExpectLinearizable(torture);
        Assert.Equal(0, first.GetStatistics().Totals.DamagedEntries);
        StoreAudit.Check(first, areBooksExact && retractions == 0);
    }
}
