using Cairn.Caching.Local;
using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Tests.Local;

/// <summary>What the choice of a policy writes at a hit, and the memory that it takes.</summary>
public class LevelCostTests
{
    [Fact]
    public void A_hit_of_a_key_that_is_not_sampled_writes_only_the_use_counter_of_its_entry()
    {
        const int Capacity = 1000;
        const int Hits = 40;
        var cache = new LocalCache(Capacity, long.MaxValue);
        List<LocalEntry> entries = [.. Enumerable.Range(0, Capacity * 3 / 2).Select(i => cache.Put($"{i}"))];
        int onlyCounter = 0;
        foreach (LocalEntry entry in entries.Where(entry => entry.Place != LocalPlace.Gone).Take(Hits))
        {
            List<object?> before = new ObjectGraph(cache).Values;

            Assert.Same(entry, cache.Find(entry.Key));

            List<object?> after = new ObjectGraph(cache).Values;
            int written = before.Zip(after).Count(pair => !Equals(pair.First, pair.Second));
            Assert.Equal((before.Count, (byte)1), (after.Count, entry.Frequency));
            Assert.InRange(written, 1, 3);
            onlyCounter += written == 1 ? 1 : 0;
        }

        // 256 of 1,000 keys are sampled. A hit of one of them also writes a record and the number of records.
        Assert.InRange(onlyCounter, Hits / 2, Hits - 1);
    }

    // A quarter of the keys of such a level is sampled. When their hits were recorded at all times, hits took 1.4 times as long as without a duel.
    [Fact]
    public void Nearly_all_hits_of_a_settled_level_write_only_the_use_counter_of_their_entries()
    {
        const int Capacity = 1000;
        const int Hits = 32;
        var cache = new LocalCache(Capacity, long.MaxValue);
        var random = new Random(1);
        string[] keys = [.. Enumerable.Range(0, 10 * Capacity).Select(i => $"{i}")];
        for (int i = 0; i < 1_000_000; i++)
        {
            string key = keys[(int)(keys.Length * Math.Pow(random.NextDouble(), 4))];
            if (cache.Find(key) is null)
            {
                cache.Put(key);
            }
        }

        int onlyCounter = 0;
        foreach (LocalEntry entry in cache.List(entry => entry.Frequency < QueuePolicy.MaxFrequency).Take(Hits))
        {
            List<object?> before = new ObjectGraph(cache).Values;
            cache.Find(entry.Key);
            onlyCounter += before.Zip(new ObjectGraph(cache).Values).Count(pair => !Equals(pair.First, pair.Second)) == 1 ? 1 : 0;
        }

        Assert.InRange(onlyCounter, Hits * 9 / 10, Hits);
    }

    [Fact]
    public void A_hit_of_an_entry_whose_use_counter_is_at_its_maximum_writes_nothing()
    {
        var cache = new LocalCache(1000, long.MaxValue);
        LocalEntry entry = cache.Put("popular");
        for (int i = 0; i < QueuePolicy.MaxFrequency; i++)
        {
            cache.Find(entry.Key);
        }

        List<object?> before = new ObjectGraph(cache).Values;

        Assert.Same(entry, cache.Find(entry.Key));

        Assert.Equal(before, new ObjectGraph(cache).Values);
    }

    // A loop brings a policy that compares frequencies to power, so that there is a sketch.
    [Theory]
    [InlineData(1 << 16, 4 << 16)]
    [InlineData(1 << 17, 4 << 17)]
    [InlineData(1000, 128 << 10)]
    public void The_sketch_and_the_shadows_have_at_most_four_bytes_for_each_entry_of_a_large_level_and_128_kib_in_a_small_one(int capacity, int mostBytes)
    {
        var cache = new LocalCache(capacity, long.MaxValue);
        LocalEntry[] keys = [.. Enumerable.Range(0, capacity * 5 / 4).Select(i => LocalEntries.Of($"{i}"))];
        for (int i = 0; i < 8 * keys.Length; i++)
        {
            LocalEntry key = keys[i % keys.Length];
            if (cache.Find(key.Hash, key.Key) is null)
            {
                cache.Set(LocalEntries.WithHash(key.Key, key.Hash));
            }
        }

        object[] parts = [.. new ObjectGraph(cache, found => found is LocalEntry).Objects.Where(found => found is ShadowSet or FrequencySketch or PolicyDuel)];

        Assert.Contains(parts, part => part is FrequencySketch);
        Assert.Contains(parts, part => part is ShadowSet);
        Assert.InRange(new ObjectGraph(parts, found => found is QueuePolicy).Bytes, capacity, mostBytes);
    }
}
