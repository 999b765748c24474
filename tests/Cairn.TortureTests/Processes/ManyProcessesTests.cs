using Cairn.Storage;
using Cairn.TortureTests.Workloads;
using Xunit.Abstractions;

namespace Cairn.TortureTests.Processes;

/// <summary>Many processes on one store at the same time, and more than the store admits.</summary>
public sealed class ManyProcessesTests(ITestOutputHelper output)
{
    private const int Processes = 64;

    [Fact]
    public void Sixty_four_processes_share_a_store()
    {
        var run = new TortureRun(output);
        using var crew = new Crew();
        Worker[] workers =
        [
            .. Enumerable.Range(0, Processes).Select(_ => crew.Start(worker => worker with
            {
                CapacityBytes = 8 << 20,
                Keys = 64,
                LongestValue = 3_000, // If many longer values are written at once, one may find no room.
                Operations = TortureRun.Count(200, 20_000),
                Seed = run.Random.Next(),
                LockTimeoutMs = 30_000, // On a busy machine, a holder of a lock may wait long for a processor.
            })),
        ];

        Assert.All(workers, worker => Assert.True(worker.WaitUntilOpen()));
        using CairnStore store = CairnStore.Open(new StoreOptions { Path = crew.StorePath, FlushOnClose = false });
        Assert.Equal(Processes + 1, store.GetStatistics().Openings);
        Array.ForEach(workers, worker => worker.Go());
        Assert.All(workers, worker => Assert.True(worker.WaitUntilDone()));
        Assert.All(workers, worker => Assert.True(worker.WaitUntilClosed()));

        crew.ExpectLinearizable(run);
        StoreAudit.Check(store, areBooksExact: false);
        StoreStatistics statistics = store.GetStatistics();
        Assert.Equal((1, 0L, 0L, 0L), (statistics.Openings, statistics.Totals.DamagedEntries, statistics.Totals.Recoveries, statistics.Totals.Dropped));
    }

    [Fact]
    public void Process_that_finds_no_owner_slot_is_refused_and_let_in_when_another_ends()
    {
        using var directory = new StoreDirectory();
        var stores = new List<CairnStore>();
        var children = new List<ChildProcess>();
        try
        {
            // Two processes and many openings in this one take every slot.
            stores.Add(CairnStore.Open(directory.Options));
            children.AddRange([Serve(directory), Serve(directory)]);
            Assert.All(children, child => Assert.Equal("open", child.ReadLine()));
            while (stores.Count + children.Count < StoreLayout.MaxOwners)
            {
                stores.Add(CairnStore.Open(directory.Options));
            }

            ExpectRefused(directory);
            children[0].Kill();
            children.Add(Serve(directory));
            Assert.Equal("open", children[^1].ReadLine());
            ExpectRefused(directory);
            Assert.Equal(0, children[1].Finish());
            children.Add(Serve(directory));
            Assert.Equal("open", children[^1].ReadLine());

            // No process was disturbed, and all see the same values.
            children[^1].WriteLine("set key value");
            Assert.Equal("True", children[^1].ReadLine());
            children[^2].WriteLine("get key");
            Assert.Equal("value", children[^2].ReadLine());
            Assert.All(stores, store => Assert.Equal("value", store.DefaultCollection.GetString("key")));
            Assert.True(stores[^1].DefaultCollection.Set("key", "next"u8));
        }
        finally
        {
            children.ForEach(child => child.Dispose());
            stores.ForEach(store => store.Dispose());
        }
    }

    [Fact]
    public void Processes_with_different_options_share_a_store()
    {
        var run = new TortureRun(output);
        using var crew = new Crew();
        const long Capacity = 2 << 20;
        using (CairnStore store = CairnStore.Open(new StoreOptions { Path = crew.StorePath, CapacityBytes = Capacity, FlushOnClose = false }))
        {
            // To create it, a worker would have to get a lock within its time-out of 1 ms.
            store.Collection(WorkloadKeys.CollectionName);
        }

        long bytes = new FileInfo(crew.StorePath).Length;
        Worker[] workers =
        [
            crew.Start(worker => worker with { Seed = run.Random.Next(), CapacityBytes = 64 << 20, LockTimeoutMs = 30_000, Threads = 2 }),
            crew.Start(worker => worker with { Seed = run.Random.Next(), MaxCapacityBytes = 32 << 20, FlushOnClose = true, LockTimeoutMs = 1 }),
        ];

        Assert.All(workers, worker => Assert.True(worker.WaitUntilOpen()));
        Array.ForEach(workers, worker => worker.Go());
        Assert.All(workers, worker => Assert.True(worker.WaitUntilDone()));
        Assert.All(workers, worker => Assert.True(worker.WaitUntilClosed()));

        crew.ExpectLinearizable(run);
        Assert.Equal(bytes, new FileInfo(crew.StorePath).Length);
        Assert.True(StoreMaintenance.Verify(crew.StorePath).IsSound);
    }

    private static ChildProcess Serve(StoreDirectory directory) => ChildProcess.Start(typeof(Program), "serve", directory.FilePath);

    private static void ExpectRefused(StoreDirectory directory)
    {
        using ChildProcess refused = Serve(directory);
        string answer = refused.ReadLine();
        Assert.StartsWith("StoreException: ", answer, StringComparison.Ordinal);
        Assert.Contains($"{StoreLayout.MaxOwners} times already", answer, StringComparison.Ordinal);
        Assert.Equal(0, refused.Finish());
    }
}
