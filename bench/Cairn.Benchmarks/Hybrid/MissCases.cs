using Cairn.Benchmarks.Measuring;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Options;

namespace Cairn.Benchmarks.Hybrid;

// Misses whose factory is instant, in a cache that is full: each brings one entry in and, over time, drives one out. Both caches may
// hold the same number of entries. IMemoryCache does not make room at once: beyond its limit it refuses new entries, until another
// thread has sorted all and removed a twentieth; that thread's time counts. So it refuses most of what comes as fast as here, and what
// is compared is a cache that takes all in with one that hardly takes anything.
//
// Like is compared with like where there is no bound: both caches are emptied before a round, and grow by every miss.
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
