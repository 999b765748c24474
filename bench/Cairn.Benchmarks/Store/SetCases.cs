using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Peers;

namespace Cairn.Benchmarks.Store;

// Sets that replace. Each peer that holds objects is measured in a group of its own. Otherwise one of them would pay for the garbage collector's
// walk over the entries of another.
internal static class SetCases
{
    public static void Measure(AreaRun run, StoreScale scale, Distribution distribution)
    {
        var suffix = CaseName.Suffix(distribution, scale);
        run.Measure($"set{suffix}", scale.Rounds, group =>
        {
            var requests = scale.Draw(distribution);
            var cairn = EnterCairn(group, run, scale, requests);
            var dictionary = group.Enter(new DictionarySet(
                DictionaryPeer.Load(scale.Entries, StoreScale.ValueBytes), requests, StoreScale.ValueBytes));
            group.Compare($"set{suffix}", cairn, dictionary, Goal.AtMost(0.28, stretch: 0.2));

            var faster = group.MakePeer(() => new FasterPeer(scale.Entries, StoreScale.ValueBytes));
            group.Compare(
                $"set{suffix}",
                cairn,
                faster is null ? null : group.Enter(new FasterSet(faster, requests, StoreScale.ValueBytes)),
                Goal.AtMost(1));

            var lmdb = group.MakePeer(() => new LmdbPeer(run.Settings.Folder, scale.Entries, StoreScale.ValueBytes));
            group.Compare(
                $"set{suffix}",
                cairn,
                lmdb is null ? null : group.Enter(new LmdbSet(lmdb, requests, scale.SlowOperations, StoreScale.ValueBytes)),
                Goal.AtMost(1));

            var sqlite = group.MakePeer(() => new SqlitePeer(run.Settings.Folder, scale.Entries, StoreScale.ValueBytes));
            group.Compare(
                $"set{suffix}",
                cairn,
                sqlite is null ? null : group.Enter(new SqliteSet(sqlite, requests, scale.SlowOperations, StoreScale.ValueBytes)),
                Goal.AtMost(1));

            group.ExpectNoAllocation($"set{suffix}", cairn);
        });
    }

    /// <summary>Measures the memory cache for reference, without a goal.</summary>
    public static void MeasureMemoryCache(AreaRun run, StoreScale scale)
    {
        var suffix = CaseName.Suffix(Distribution.Uniform, scale);
        run.Measure($"set{suffix}, {MemoryCachePeer.Name}", scale.Rounds, group =>
        {
            var requests = scale.Draw(Distribution.Uniform);
            var cairn = EnterCairn(group, run, scale, requests);
            var memoryCache = group.Own(MemoryCachePeer.Load(scale.Entries, StoreScale.ValueBytes));
            group.Compare($"set{suffix}", cairn, group.Enter(new MemoryCacheSet(memoryCache, requests, StoreScale.ValueBytes)));
        });
    }

    private static CairnSet EnterCairn(CaseGroup group, AreaRun run, StoreScale scale, Requests requests)
    {
        var store = group.Own(BenchmarkStore.CreateUsed(run.Settings.Folder, "set", scale.Entries, StoreScale.ValueBytes));
        return group.Enter(new CairnSet(store.DefaultCollection, requests, StoreScale.ValueBytes));
    }
}
