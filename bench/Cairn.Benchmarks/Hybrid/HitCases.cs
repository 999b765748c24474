using Cairn.Benchmarks.Measuring;
using Cairn.Caching;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;
using ZiggyCreatures.Caching.Fusion;

namespace Cairn.Benchmarks.Hybrid;

/// <summary>
/// Measures hits in the first level. All forms, without a second level and over a store file, take part in the same rounds. So the code that they
/// share is compiled for all of them in the same way.
/// </summary>
internal static class HitCases
{
    private const string Alone = "Cairn";
    private const string OverStore = "Cairn over a store file";

    public static void Measure(AreaRun run, HybridScale scale) => run.Measure($"hit, {scale.Size}", scale.Rounds, group =>
    {
        var requests = scale.Draw();
        var dictionary = group.Enter(new DictionaryHit(HybridCaches.FillDictionary(scale.Entries), requests));
        var texts = group.Enter(new MemoryCacheHit<string>(group.Own(HybridCaches.FillMemoryCache(scale.Entries, CustomerValues.Text)), requests));
        var objects = group.Enter(new MemoryCacheHit<Customer>(
            group.Own(HybridCaches.FillMemoryCache(scale.Entries, CustomerValues.Shareable)), requests));

        var microsofts = EnterMicrosofts(group, scale, requests);
        var fusions = EnterFusions(group, scale, requests);

        // Room for more entries than there are: the hash chooses an entry's shard, and shards do not get exactly equal numbers.
        var room = scale.Entries * 2L;
        foreach (var name in new[] { Alone, OverStore })
        {
            var text = group.Enter(new HybridStringHit<string>(name, Fill(Create("text"), CustomerValues.Text), requests));
            Ask("string", text, microsofts.Text, fusions.Text, texts, dictionary);

            var shared = group.Enter(new HybridStringHit<Customer>(name, Fill(Create("object"), CustomerValues.Shareable), requests));
            Ask("shared object", shared, microsofts.Shared, fusions.Shared, objects);

            var interpolated = group.Enter(new HybridInterpolatedHit<string>(name, Fill(Create("interpolated"), CustomerValues.Text), requests));
            Ask("interpolated key", interpolated, microsofts.Interpolated, fusions.Interpolated, texts);

            var tagged = group.Enter(new HybridTaggedHit<string>(name, Fill(Create("tags"), CustomerValues.Text, HybridCaches.Tags), requests));
            Ask("2 tags", tagged, microsofts.Tagged, fusions.Tagged, texts);

            var safe = group.Enter(new HybridStringHit<string>(
                name, Fill(Create("fail-safe", HybridCaches.WithFailSafeAndEagerRefresh), CustomerValues.Text), requests));
            Ask("fail-safe and eager refresh", safe, microsofts.Text, fusions.Safe, texts);

            CairnHybridCache Create(string form, CairnEntryOptions? defaults = null) => name == Alone
                ? HybridCaches.CreateLocal(room, defaults)
                : HybridCaches.CreateOverStore(run.Settings.Folder, form, room, defaults);
        }

        var copies = group.Enter(new HybridStringHit<MutableCustomer>(
            Alone, Fill(HybridCaches.CreateLocal(room), CustomerValues.Mutable), requests));
        group.Compare($"hit, a copy for each reader, {scale.Size}", copies, microsofts.Copied, Goal.AtMost(0.55));
        group.Compare($"hit, a copy for each reader, {scale.Size}", copies, objects);

        var many = group.Enter(new HybridGetMany<string>(Alone, Fill(HybridCaches.CreateLocal(room), CustomerValues.Text), requests));
        group.Compare($"hit, 16 keys at once, {scale.Size}", many, texts);

        CairnHybridCache Fill<T>(CairnHybridCache cache, Func<int, T> valueOf, string[]? tags = null) => HybridCaches.Fill(group.Own(cache), scale.Entries, valueOf, tags);

        // Microsoft's implementation has no fail-safe: its plain hit is the peer there.
        void Ask(string form, IContender subject, IContender microsofts, IContender fusions, params IContender[] others)
        {
            var question = $"hit, {form}, {scale.Size}";
            group.Compare(question, subject, microsofts, Goal.AtMost(0.55));
            group.Compare(question, subject, fusions, Goal.AtMost(0.15));
            foreach (var other in others)
            {
                group.Compare(question, subject, other);
            }

            group.ExpectNoAllocation(question, subject);
        }
    });

    private static Forms EnterMicrosofts(CaseGroup group, HybridScale scale, CustomerRequests requests)
    {
        var text = group.Enter(new HybridStringHit<string>(HybridCaches.Microsofts, Filled(CustomerValues.Text), requests));
        return new(
            text,
            group.Enter(new HybridStringHit<Customer>(HybridCaches.Microsofts, Filled(CustomerValues.Shareable), requests)),
            group.Enter(new HybridInterpolatedHit<string>(HybridCaches.Microsofts, Filled(CustomerValues.Text), requests)),
            group.Enter(new HybridTaggedHit<string>(HybridCaches.Microsofts, Filled(CustomerValues.Text, HybridCaches.Tags), requests)),
            text,
            group.Enter(new HybridStringHit<MutableCustomer>(HybridCaches.Microsofts, Filled(CustomerValues.Mutable), requests)));

        HybridCache Filled<T>(Func<int, T> valueOf, string[]? tags = null) => HybridCaches.Fill(
            group.Own(HybridCaches.BuildMicrosofts()).GetRequiredService<HybridCache>(), scale.Entries, valueOf, tags);
    }

    private static Forms EnterFusions(CaseGroup group, HybridScale scale, CustomerRequests requests)
    {
        return new(
            group.Enter(new FusionHit<string>(Filled(CustomerValues.Text), requests)),
            group.Enter(new FusionHit<Customer>(Filled(CustomerValues.Shareable), requests)),
            group.Enter(new FusionHit<string>(Filled(CustomerValues.Text), requests, isInterpolated: true)),
            group.Enter(new FusionHit<string>(Filled(CustomerValues.Text, HybridCaches.Tags), requests, HybridCaches.Tags)),
            group.Enter(new FusionHit<string>(Filled(CustomerValues.Text, hasFailSafe: true), requests)),
            Copied: null);

        FusionCache Filled<T>(Func<int, T> valueOf, string[]? tags = null, bool hasFailSafe = false) =>
            FusionCaches.Fill(group.Own(FusionCaches.Create(hasFailSafe: hasFailSafe)), scale.Entries, valueOf, tags);
    }

    /// <summary>Measures the plain hits at another size, for information only, and the get of a bounded first level.</summary>
    public static void MeasureSize(AreaRun run, HybridScale scale) => run.Measure($"hit and get, {scale.Size}", scale.Rounds, group =>
    {
        var requests = scale.Draw();
        var dictionary = group.Enter(new DictionaryHit(HybridCaches.FillDictionary(scale.Entries), requests));
        var texts = group.Enter(new MemoryCacheHit<string>(group.Own(HybridCaches.FillMemoryCache(scale.Entries, CustomerValues.Text)), requests));
        var lru = group.Enter(new LruHit(HybridCaches.FillLru(scale.Entries), requests));
        var text = group.Enter(new HybridStringHit<string>(Alone, Filled(), requests));
        var interpolated = group.Enter(new HybridInterpolatedHit<string>(Alone, Filled(), requests));
        var get = group.Enter(new HybridGet(Filled(), requests));
        group.Compare($"hit, string, {scale.Size}", text, texts);
        group.Compare($"hit, string, {scale.Size}", text, dictionary);
        group.Compare($"hit, interpolated key, {scale.Size}", interpolated, texts);
        group.Compare($"get, string, {scale.Size}", get, lru, Goal.AtMost(2));
        group.Compare($"get, string, {scale.Size}", get, dictionary);

        CairnHybridCache Filled() =>
            HybridCaches.Fill(group.Own(HybridCaches.CreateLocal(scale.Entries * 2L)), scale.Entries, CustomerValues.Text);
    });

    /// <summary>The contenders of a peer, by the form of the hit.</summary>
    private sealed record Forms(IContender Text, IContender Shared, IContender Interpolated, IContender Tagged, IContender Safe, IContender? Copied);
}
