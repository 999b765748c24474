using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Peers;

namespace Cairn.Benchmarks.Store;

/// <summary>Compares gets of existing keys with every peer that supports them.</summary>
internal static class LookupCases
{
    public static void Measure(AreaRun run, StoreScale scale, Distribution distribution)
    {
        var suffix = CaseName.Suffix(distribution, scale);
        run.Measure($"get{suffix}", scale.Rounds, group =>
        {
            var requests = scale.Draw(distribution);
            var store = group.Own(BenchmarkStore.CreateUsed(run.Settings.Folder, "lookup", scale.Entries, StoreScale.ValueBytes));
            var byBytes = group.Enter(new CairnGetByBytes(store.DefaultCollection, requests, StoreScale.ValueBytes));
            var byText = group.Enter(new CairnGetByText(store.DefaultCollection, requests, StoreScale.ValueBytes));
            var many = group.Enter(new CairnGetMany(store.DefaultCollection, requests, StoreScale.ValueBytes));

            var dictionary = group.Enter(new DictionaryGet(
                DictionaryPeer.Load(scale.Entries, StoreScale.ValueBytes), requests, StoreScale.ValueBytes));
            group.Compare($"get, byte key{suffix}", byBytes, dictionary, Goal.AtMost(0.62, stretch: 0.5));
            group.Compare($"get, string key{suffix}", byText, dictionary, Goal.AtMost(0.82, stretch: 0.65));
            group.Compare($"get, 16 keys at once{suffix}", many, dictionary, Goal.AtMost(0.22, stretch: 0.15));

            var faster = group.MakePeer(() => new FasterPeer(scale.Entries, StoreScale.ValueBytes));
            group.Compare(
                $"get, byte key{suffix}",
                byBytes,
                faster is null ? null : group.Enter(new FasterGet(faster, requests, StoreScale.ValueBytes)),
                Goal.AtMost(1));

            var lmdb = group.MakePeer(() => new LmdbPeer(run.Settings.Folder, scale.Entries, StoreScale.ValueBytes));
            group.Compare(
                $"get, byte key{suffix}",
                byBytes,
                lmdb is null ? null : group.Enter(new LmdbGet(lmdb, requests, StoreScale.ValueBytes)),
                Goal.AtMost(1));

            var sqlite = group.MakePeer(() => new SqlitePeer(run.Settings.Folder, scale.Entries, StoreScale.ValueBytes));
            group.Compare(
                $"get, byte key{suffix}",
                byBytes,
                sqlite is null ? null : group.Enter(new SqliteGet(sqlite, requests, scale.SlowOperations, StoreScale.ValueBytes)),
                Goal.AtMost(1));

            var memoryCache = group.Own(MemoryCachePeer.Load(scale.Entries, StoreScale.ValueBytes));
            group.Compare(
                $"get, string key{suffix}", byText, group.Enter(new MemoryCacheGet(memoryCache, requests, StoreScale.ValueBytes)));

            group.ExpectNoAllocation($"get, byte key{suffix}", byBytes);
            group.ExpectNoAllocation($"get, string key{suffix}", byText);
            group.ExpectNoAllocation($"get, 16 keys at once{suffix}", many);
        });
    }
}
