using Cairn.Benchmarks.Measuring;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Options;

namespace Cairn.Benchmarks.Hybrid;

// Misses with an instant factory.
//
// Growing: the cache is new or empty before each round and has room for all keys. Full: each miss adds an entry and evicts one. The caches that
// have no bound take part in the rows of full caches with their growing form. IMemoryCache with a bound does not make room at once: when it is
// full, it refuses new entries until another thread has sorted all entries and removed a twentieth of them, whose time counts. At this rate it
// refuses most entries.
//
// The second level is a store file, or a dictionary as IDistributedCache, which costs all caches the same. A miss is a get and a set there.
internal static class MissCases
{
    private const string Plain = "a plain IDistributedCache";

    private static readonly HybridCacheEntryOptions CallOptions = new() { Expiration = TimeSpan.FromHours(6) };
    private static readonly Goal CpuGoal = Goal.AtMost(1);
    private static readonly Goal BytesGoal = Goal.AtMost(1.25);

    public static void Measure(AreaRun run, HybridScale scale) => run.Measure($"miss, {scale.Size}", scale.Rounds, group =>
    {
        var operations = scale.Operations / 10;
        var full = $"miss, full at {scale.Size}";

        var microsofts = group.Enter(new HybridKeyed(RenewedCache.Microsofts(), operations, isMiss: true));
        var fusions = group.Enter(new FusionKeyed(() => FusionCaches.Create(), operations, isMiss: true));
        var unbounded = group.Enter(new MemoryCacheMiss("IMemoryCache, not bounded", Peer(new MemoryCacheOptions()), operations));
        var refusing = group.Enter(new MemoryCacheMiss(
            "IMemoryCache, as bounded", Peer(new MemoryCacheOptions { SizeLimit = scale.Entries }), operations, scale.Entries));
        var lru = group.Enter(new LruMiss(scale.Entries, operations));

        Ask("miss, growing", group.Enter(new HybridKeyed(RenewedCache.Cairns(operations * 2L), operations, isMiss: true)), unbounded);
        Ask(full, group.Enter(Full()), refusing, lru);
        Ask($"{full}, options with the call", group.Enter(Full(CallOptions)));

        var microsoftsOver = group.Enter(new HybridKeyed(RenewedCache.Microsofts(NewDictionary), operations, isMiss: true));
        var fusionsOver = group.Enter(new FusionKeyed(() => FusionCaches.Create(NewDictionary()), operations, isMiss: true));
        AskOver($"miss over {Plain}", new HybridKeyed(RenewedCache.Cairns(operations * 2L, NewDictionary), operations, isMiss: true));
        AskOver($"miss over a store file, peers over {Plain}", new HybridKeyed(
            "Cairn", group.Own(HybridCaches.CreateOverStore(run.Settings.Folder, "miss", scale.Entries)), operations));

        HybridKeyed Full(HybridCacheEntryOptions? options = null) =>
            new(RenewedCache.Cairns(scale.Entries), operations, isMiss: true, options, filledWith: scale.Entries);

        void Ask(string question, IContender subject, params IContender[] others)
        {
            group.Compare(question, subject, microsofts, CpuGoal);
            foreach (var other in others.Prepend(fusions))
            {
                group.Compare(question, subject, other);
            }
        }

        void AskOver(string question, HybridKeyed subject)
        {
            group.Enter(subject);
            group.Compare(question, subject, microsoftsOver, CpuGoal);
            group.Compare($"{question}, bytes", subject, microsoftsOver, BytesGoal, Quantity.AllocatedBytes);
            group.Compare(question, subject, fusionsOver);
        }

        MemoryCache Peer(MemoryCacheOptions options) => group.Own(new MemoryCache(Options.Create(options)));
    });

    /// <summary>Measures hits of the second level, which the first level keeps or not.</summary>
    public static void MeasureSecondLevel(AreaRun run, HybridScale scale) => run.Measure($"hit from {Plain}, {scale.Size}", scale.Rounds, group =>
    {
        var operations = scale.Operations / 10;
        foreach (var hasFirstLevel in new[] { true, false })
        {
            var question = hasFirstLevel ? $"hit from {Plain}" : $"hit from {Plain}, no first level";
            var options = hasFirstLevel ? null : new HybridCacheEntryOptions { Flags = HybridCacheEntryFlags.DisableLocalCache };
            var ours = group.Enter(Hybrid(RenewedCache.Cairns, options));
            var microsofts = group.Enter(Hybrid((_, secondLevelOf) => RenewedCache.Microsofts(secondLevelOf), options));
            group.Compare(question, ours, microsofts, CpuGoal);
            group.Compare($"{question}, bytes", ours, microsofts, BytesGoal, Quantity.AllocatedBytes);

            var dictionary = NewDictionary();
            using (var filling = FusionCaches.Create(dictionary))
            {
                FusionCaches.Fill(filling, operations * 2, CustomerValues.Text);
            }

            group.Compare(question, ours, group.Enter(new FusionKeyed(() => FusionCaches.Create(dictionary), operations, isMiss: false, hasFirstLevel)));
        }

        HybridKeyed Hybrid(Func<long, Func<IDistributedCache>?, RenewedCache> renewed, HybridCacheEntryOptions? options)
        {
            var dictionary = NewDictionary();
            var cache = renewed(operations * 2L, () => dictionary);
            HybridCaches.Fill(cache.Renew(), operations * 2, CustomerValues.Text);
            return new HybridKeyed(cache, operations, isMiss: false, options);
        }
    });

    private static DictionaryCache NewDictionary() => new();
}
