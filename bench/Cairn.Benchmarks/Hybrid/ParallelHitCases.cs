using Cairn.Benchmarks.Measuring;
using Cairn.Caching;

namespace Cairn.Benchmarks.Hybrid;

/// <summary>Measures whether two threads that read the same cache slow each other down.</summary>
internal static class ParallelHitCases
{
    private static readonly Goal ThroughputGoal = Goal.AtLeast(1.8);

    public static void Measure(AreaRun run, HybridScale scale) => run.Measure($"parallel hit, {scale.Size}", scale.Rounds, group =>
    {
        Ask("Cairn", HybridCaches.CreateLocal(scale.Entries * 2L));
        Ask("Cairn over a store file", HybridCaches.CreateOverStore(run.Settings.Folder, "parallel", scale.Entries * 2L));

        void Ask(string name, CairnHybridCache cache)
        {
            HybridCaches.Fill(group.Own(cache), scale.Entries, CustomerValues.Text);
            var one = group.Enter(new ThreadedContender($"{name}, one thread", [Worker(1)]));
            var two = group.Enter(new ThreadedContender($"{name}, two threads", [Worker(1), Worker(2)]));
            group.Compare($"hit, string, {scale.Size}", two, one, ThroughputGoal, Quantity.Throughput);

            HybridStringHit<string> Worker(int seed) => new(name, cache, scale.Draw(seed));
        }
    });
}
