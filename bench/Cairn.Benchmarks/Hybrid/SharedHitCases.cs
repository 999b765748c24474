using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Store;
using Cairn.Caching;

namespace Cairn.Benchmarks.Hybrid;

// Hits that miss the first level and hit the store file, compared with the store's own get of the same entry. The entry contains the value's
// bytes in the cache's envelope. One case has a first level for a thousandth of the entries: it keeps every value that is read and evicts
// another one. The other case has no first level.
internal static class SharedHitCases
{
    private const int EntryBytes = 256;
    private const int LocalShare = 1000;

    private static readonly Goal CostGoal = Goal.AtMost(2.5);

    public static void Measure(AreaRun run, HybridScale scale) => run.Measure($"hit from a store file, {scale.SharedSize}", scale.Rounds, group =>
    {
        var store = group.Own(CairnStore.Open(new StoreOptions
        {
            Path = Path.Combine(run.Settings.Folder, "shared.cairn"),
            CapacityBytes = Math.Max(64L << 20, scale.SharedEntries * (long)EntryBytes * 2),
            AverageEntryBytes = EntryBytes,
            FlushOnClose = false,
        }));
        var requests = CustomerRequests.DrawLong(scale.SharedEntries, scale.Operations, seed: 1);
        var smallCache = CacheOf(scale.SharedEntries / LocalShare);
        HybridCaches.Fill(smallCache, scale.SharedEntries, CustomerValues.Text);

        var get = group.Enter(new StoreGet(store.Collection(new CairnHybridCacheOptions().Name), requests));
        var kept = group.Enter(new HybridStringHit<string>("Cairn", smallCache, requests));
        var unkept = group.Enter(new SecondLevelHit("Cairn", CacheOf(localEntries: 1), requests));
        group.Compare($"hit from a store file, {scale.SharedSize}", kept, get, CostGoal);
        group.Compare($"hit from a store file, {scale.SharedSize}, no first level", unkept, get, CostGoal);

        var many = group.Enter(new HybridGetMany<string>("Cairn", CacheOf(scale.SharedEntries / LocalShare), requests));
        group.Compare($"hit from a store file, {scale.SharedSize}, 16 keys at once", many, get);

        CairnHybridCache CacheOf(int localEntries) => group.Own(HybridCaches.CreateOver(store, localEntries));
    });

    /// <summary>The store's get, with a copy of the value.</summary>
    private sealed class StoreGet(CairnCollection collection, CustomerRequests requests) : OperationContender("the store's get", requests.Count)
    {
        private readonly byte[] _destination = new byte[EntryBytes];

        protected override void Run(int first, int count)
        {
            for (var i = first; i < first + count; i++)
            {
                if (!collection.TryGet(requests.Key(i), _destination, out int _))
                {
                    Misses++;
                }
            }
        }
    }
}
