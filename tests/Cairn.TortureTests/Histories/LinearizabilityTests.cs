using Cairn.TortureTests.Workloads;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Histories;

/// <summary>
/// Random operations of several threads and processes on the same keys of a full store. For all interleavings, the history of each key is that of a
/// register that can lose its value.
/// </summary>
public sealed class LinearizabilityTests(ITestOutputHelper output)
{
    [Theory]
    [InlineData(StoreLimits.MinCapacityBytes, 0)]
    [InlineData(8L << 20, 0)]
    [InlineData(2L << 20, 4L << 20)]
    public async Task Threads_of_two_openings_are_linearizable(long capacityBytes, long maxCapacityBytes)
    {
        var run = new TortureRun(output);
        for (int round = 0; round < TortureRun.Count(1, 50); round++)
        {
            using var crew = new Crew();
            var options = new StoreOptions
            {
                Path = crew.StorePath, CapacityBytes = capacityBytes, MaxCapacityBytes = maxCapacityBytes, FlushOnClose = false,
            };
            using CairnStore first = CairnStore.Open(options);
            using CairnStore second = CairnStore.Open(options);
            int operations = TortureRun.Count(20_000, 100_000);
            Workload[] workloads =
            [
                .. Enumerable.Range(0, 4).Select(thread =>
                {
                    CairnStore store = thread % 2 == 0 ? first : second;
                    Random random = run.RandomFor((round * 16) + thread);
                    return crew.OwnWorkload(store, new WorkloadKeys(store, 32), random, operations, isReader: thread == 3);
                }),
            ];

            await Task.WhenAll(workloads.Select(workload => OwnThread.Run(() => Work(workload, operations))));

            crew.ExpectLinearizable(run);
            StoreAudit.Check(first, areBooksExact: false);
            Assert.Equal(0, first.GetStatistics().Totals.DamagedEntries);
        }
    }

    [Fact]
    public async Task Threads_of_several_processes_are_linearizable()
    {
        var run = new TortureRun(output);
        for (int round = 0; round < TortureRun.Count(1, 50); round++)
        {
            using var crew = new Crew();
            int operations = TortureRun.Count(15_000, 100_000);
            Worker[] workers =
            [
                .. Enumerable.Range(0, 3).Select(i => crew.Start(worker => worker with
                {
                    Seed = TortureRun.SeedOf(run.Seed, round), Threads = 2, Operations = operations, IsReader = i == 2,
                })),
            ];
            Assert.All(workers, worker => Assert.True(worker.WaitUntilOpen()));
            using CairnStore store = CairnStore.Open(new StoreOptions { Path = crew.StorePath, FlushOnClose = false });
            Workload own = crew.OwnWorkload(store, new WorkloadKeys(store, 32), run.RandomFor(round), operations);
            Array.ForEach(workers, worker => worker.Go());

            await OwnThread.Run(() => Work(own, operations));

            Assert.All(workers, worker => Assert.True(worker.WaitUntilDone()));
            Assert.All(workers, worker => Assert.True(worker.WaitUntilClosed()));
            crew.ExpectLinearizable(run);
            StoreAudit.Check(store, areBooksExact: false);
            StoreStatistics statistics = store.GetStatistics();
            Assert.Equal(0, statistics.Totals.DamagedEntries);
            Assert.Equal(1, statistics.Openings);
        }
    }

    private static void Work(Workload workload, int operations)
    {
        for (int i = 0; i < operations && workload.MayStep; i++)
        {
            workload.Step();
        }
    }
}
