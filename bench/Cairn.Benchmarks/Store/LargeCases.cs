using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Peers;

namespace Cairn.Benchmarks.Store;

/// <summary>Measures ten million entries. The bounds are the ratios that the design's prototype reached at this size.</summary>
internal static class LargeCases
{
    public static void Measure(AreaRun run)
    {
        var scale = StoreScale.TenMillion;
        var suffix = CaseName.Suffix(Distribution.Uniform, scale);
        run.Measure($"get and set{suffix}", scale.Rounds, group =>
        {
            var requests = scale.Draw(Distribution.Uniform);
            var lookups = group.Own(BenchmarkStore.CreateUsed(run.Settings.Folder, "large", scale.Entries, StoreScale.ValueBytes));
            var byBytes = group.Enter(new CairnGetByBytes(lookups.DefaultCollection, requests, StoreScale.ValueBytes));
            var byText = group.Enter(new CairnGetByText(lookups.DefaultCollection, requests, StoreScale.ValueBytes));
            var many = group.Enter(new CairnGetMany(lookups.DefaultCollection, requests, StoreScale.ValueBytes));
            var sets = group.Own(BenchmarkStore.CreateUsed(run.Settings.Folder, "large-set", scale.Entries, StoreScale.ValueBytes));
            var set = group.Enter(new CairnSet(sets.DefaultCollection, requests, StoreScale.ValueBytes));

            var dictionary = DictionaryPeer.Load(scale.Entries, StoreScale.ValueBytes);
            var dictionaryGet = group.Enter(new DictionaryGet(dictionary, requests, StoreScale.ValueBytes));
            var dictionarySet = group.Enter(new DictionarySet(dictionary, requests, StoreScale.ValueBytes));
            group.Compare($"get, byte key{suffix}", byBytes, dictionaryGet, Goal.AtMost(0.25));
            group.Compare($"get, string key{suffix}", byText, dictionaryGet, Goal.AtMost(0.41));
            group.Compare($"get, 16 keys at once{suffix}", many, dictionaryGet, Goal.AtMost(0.08));
            group.Compare($"set{suffix}", set, dictionarySet, Goal.AtMost(0.23));
        });
    }
}
