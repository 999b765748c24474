using Cairn.Benchmarks.Measuring;
using Cairn.Caching;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection;

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

        var microsofts = group.Enter(new HybridStringHit<string>(
            HybridCaches.Microsofts,
            HybridCaches.Fill(group.Own(HybridCaches.BuildMicrosofts()).GetRequiredService<HybridCache>(), scale.Entries, CustomerValues.Text),
            requests));

        // Room for more entries than there are: the hash chooses an entry's shard, and shards do not get exactly equal numbers.
        var room = scale.Entries * 2L;
        foreach (var name in new[] { Alone, OverStore })
        {
            var text = group.Enter(new HybridStringHit<string>(name, Fill(Create("text"), CustomerValues.Text), requests));
            Ask($"hit, string, {scale.Size}", text, texts, goal: 0.75);
            group.Compare($"hit, string, {scale.Size}", text, dictionary);
            group.Compare($"hit, string, {scale.Size}", text, microsofts);

            var shared = group.Enter(new HybridStringHit<Customer>(name, Fill(Create("object"), CustomerValues.Shareable), requests));
            Ask($"hit, shared object, {scale.Size}", shared, objects, goal: 0.75);

            var interpolated = group.Enter(new HybridInterpolatedHit<string>(name, Fill(Create("interpolated"), CustomerValues.Text), requests));
            Ask($"hit, interpolated key, {scale.Size}", interpolated, texts, goal: 1.1);

            var tagged = group.Enter(new HybridTaggedHit<string>(name, Fill(Create("tags"), CustomerValues.Text, HybridCaches.Tags), requests));
            Ask($"hit, 2 tags, {scale.Size}", tagged, texts, goal: 0.9);

            var safe = group.Enter(new HybridStringHit<string>(
                name, Fill(Create("fail-safe", HybridCaches.WithFailSafeAndEagerRefresh), CustomerValues.Text), requests));
            Ask($"hit, fail-safe and eager refresh, {scale.Size}", safe, texts, goal: 1.0);

            CairnHybridCache Create(string form, CairnEntryOptions? defaults = null) => name == Alone
                ? HybridCaches.CreateLocal(room, defaults)
                : HybridCaches.CreateOverStore(run.Settings.Folder, form, room, defaults);
        }

        var copies = group.Enter(new HybridStringHit<MutableCustomer>(
            Alone, Fill(HybridCaches.CreateLocal(room), CustomerValues.Mutable), requests));
        group.Compare($"hit, a copy for each reader, {scale.Size}", copies, objects);

        var many = group.Enter(new HybridGetMany<string>(Alone, Fill(HybridCaches.CreateLocal(room), CustomerValues.Text), requests));
        group.Compare($"hit, 16 keys at once, {scale.Size}", many, texts);

        CairnHybridCache Fill<T>(CairnHybridCache cache, Func<int, T> valueOf, string[]? tags = null) => HybridCaches.Fill(group.Own(cache), scale.Entries, valueOf, tags);

        void Ask(string question, IContender subject, IContender peer, double goal)
        {
            group.Compare(question, subject, peer, Goal.AtMost(goal));
            group.ExpectNoAllocation(question, subject);
        }
    });

    /// <summary>Measures the plain hits at another size, for information only.</summary>
    public static void MeasureSize(AreaRun run, HybridScale scale) => run.Measure($"hit, {scale.Size}", scale.Rounds, group =>
    {
        var requests = scale.Draw();
        var dictionary = group.Enter(new DictionaryHit(HybridCaches.FillDictionary(scale.Entries), requests));
        var texts = group.Enter(new MemoryCacheHit<string>(group.Own(HybridCaches.FillMemoryCache(scale.Entries, CustomerValues.Text)), requests));
        var text = group.Enter(new HybridStringHit<string>(Alone, Filled(), requests));
        var interpolated = group.Enter(new HybridInterpolatedHit<string>(Alone, Filled(), requests));
        group.Compare($"hit, string, {scale.Size}", text, texts);
        group.Compare($"hit, string, {scale.Size}", text, dictionary);
        group.Compare($"hit, interpolated key, {scale.Size}", interpolated, texts);

        CairnHybridCache Filled() =>
            HybridCaches.Fill(group.Own(HybridCaches.CreateLocal(scale.Entries * 2L)), scale.Entries, CustomerValues.Text);
    });
}
