using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Store;

/// <summary>Measures whether readers of one store slow each other down: two threads, and two processes.</summary>
internal static class ParallelCases
{
    private static readonly Goal ThroughputGoal = Goal.AtLeast(1.8);

    public static void Measure(AreaRun run, StoreScale scale)
    {
        var suffix = CaseName.Suffix(Distribution.Uniform, scale);
        run.Measure($"parallel get{suffix}", scale.Rounds, group =>
        {
            var store = group.Own(BenchmarkStore.CreateUsed(run.Settings.Folder, "parallel", scale.Entries, StoreScale.ValueBytes));

            CairnGetByBytes Worker(int seed) => new(store.DefaultCollection, scale.Draw(Distribution.Uniform, seed), StoreScale.ValueBytes);
            var oneThread = group.Enter(new ThreadedContender("Cairn, one thread", [Worker(1)]));
            var twoThreads = group.Enter(new ThreadedContender("Cairn, two threads", [Worker(1), Worker(2)]));
            group.Compare($"get, byte key{suffix}", twoThreads, oneThread, ThroughputGoal, Quantity.Throughput);

            ReaderProcess Process(int seed) => group.Own(new ReaderProcess(store.Path, scale, seed));
            var (first, second) = (Process(1), Process(2));
            var oneProcess = group.Enter(new ProcessesContender("Cairn, one process", [first]));
            var twoProcesses = group.Enter(new ProcessesContender("Cairn, two processes", [first, second]));
            group.Compare($"get, byte key{suffix}", twoProcesses, oneProcess, ThroughputGoal, Quantity.Throughput);
        });
    }
}
