using Cairn.Benchmarks.Measuring;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Options;

namespace Cairn.Benchmarks.Hybrid;

// Misses with an instant factory in a full cache: each miss adds one entry and, over time, evicts one. Both caches have the same limit on the number
// of entries. IMemoryCache does not make room at once. When it is full, it refuses new entries until another thread has sorted all entries and
// removed a twentieth of them. The time of that thread counts. At this rate it refuses most new entries. So the comparison is between a cache
// that accepts every entry and one that accepts hardly any.
//
// Only the cases without a limit compare like with like: both caches are emptied before a round and grow with every miss.
internal static class MissCases
{
    private const string Name = "IMemoryCache";

    private static readonly Goal CostGoal = Goal.AtMost(1.5);

    public static void Measure(AreaRun run, HybridScale scale) => run.Measure($"miss, {scale.Size}", scale.Rounds, group =>
    {
        var operations = scale.Operations / 5;
        var boundedPeer = group.Enter(new MemoryCacheMiss(
            $"{Name}, as bounded", Peer(new MemoryCacheOptions { SizeLimit = scale.Entries }), operations, scale.Entries));
        var growingPeer = group.Enter(new MemoryCacheMiss(
            $"{Name}, not bounded", Peer(new MemoryCacheOptions()), operations));

        var bounded = group.Enter(new HybridMiss("Cairn", group.Own(HybridCaches.CreateLocal(scale.Entries)), operations));
        var withOptions = group.Enter(new HybridMiss("Cairn", group.Own(HybridCaches.CreateLocal(scale.Entries)), operations, hasOptions: true));
        var growing = group.Enter(new HybridMiss("Cairn", group.Own(HybridCaches.CreateLocal(operations * 2L)), operations, isEmptied: true));
        group.Compare($"miss, full at {scale.Size}", bounded, boundedPeer, CostGoal);
        group.Compare($"miss, full at {scale.Size}", bounded, growingPeer);
        group.Compare($"miss, full at {scale.Size}, options with the call", withOptions, boundedPeer, CostGoal);
        group.Compare("miss, growing", growing, growingPeer, CostGoal);

        var overStore = group.Enter(new HybridMiss(
            "Cairn over a store file",
            group.Own(HybridCaches.CreateOverStore(run.Settings.Folder, "miss", scale.Entries)),
            operations,
            isEmptied: true));
        group.Compare($"miss, full at {scale.Size}", overStore, boundedPeer);

        MemoryCache Peer(MemoryCacheOptions options) => group.Own(new MemoryCache(Options.Create(options)));
    });
}
