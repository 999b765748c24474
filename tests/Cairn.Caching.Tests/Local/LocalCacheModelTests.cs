using Cairn.Caching.Local;
using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Tests.Local;

/// <summary>Random operations, compared with models step by step. A failure names its seed, which is the theory's argument.</summary>
public class LocalCacheModelTests
{
    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 20)];

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Evicted_entries_are_those_of_the_model_of_eviction(int seed)
    {
        var random = new Random(seed);
        int maxEntries = random.Next(1, 60);
        long maxBytes = random.Next(2) == 0 ? long.MaxValue : random.Next(1, 600);
        int keys = Math.Max(2, (int)(maxEntries * (1 + (3 * random.NextDouble()))));
        QueuePolicy policy = QueuePolicy.Candidates[seed % QueuePolicy.Candidates.Count];
        var cache = new LocalCache(maxEntries, maxBytes, policy: policy);
        var model = new EvictionModel(policy, maxEntries, maxBytes);

        for (int step = 0; step < 5000; step++)
        {
            // Some keys are requested much more often than others, as in practice.
            string key = $"key:{(int)(keys * Math.Pow(random.NextDouble(), 3))}";
            int choice = random.Next(1000);
            if (choice < 1)
            {
                cache.Clear();
                model.Clear();
            }
            else if (choice < 2)
            {
                cache.RemoveUnusable(step);
                model.RemoveUnusable(step);
            }
            else if (choice < 20)
            {
                cache.Remove(key);
                model.Remove(key);
            }
            else if (choice < 50)
            {
                Set(key, step);
            }
            else
            {
                bool isFound = cache.Find(key) is not null;
                Assert.True(isFound == model.Find(key), $"Step {step}: {policy.Name}: {key} is {(isFound ? "" : "not ")}there.");
                if (!isFound)
                {
                    Set(key, step);
                }
            }

            Assert.True(model.Keys.Count() == cache.GetStatistics().Entries, $"Step {step}: the number of entries.");
            Assert.True(model.Bytes == cache.GetStatistics().Bytes, $"Step {step}: the number of bytes.");
        }

        void Set(string key, long now)
        {
            int bytes = random.Next(30) == 0 ? random.Next(300) : random.Next(1, 20);
            long until = random.Next(3) == 0 ? now + random.Next(300) : long.MaxValue;
            LocalEntry entry = LocalEntries.Of(key, bytes);
            entry.UsableUntil = until;
            cache.Set(entry, now);
            model.Set(key, bytes, until, now);
        }
    }

    [Theory]
    [MemberData(nameof(Seeds))]
    public void It_answers_as_a_dictionary_does_while_there_is_room(int seed)
    {
        var random = new Random(seed);
        var removed = new List<LocalEntry>();
        var cache = new LocalCache(maxEntries: 65_536, maxBytes: long.MaxValue, removed.Add);
        var model = new Dictionary<string, LocalEntry>();
        int gone = 0;

        // A few seeds use few hashes, so that keys share them.
        ulong mask = seed % 4 == 0 ? 0xF000_0000_0000_0003 : ulong.MaxValue;

        for (int step = 0; step < 20_000; step++)
        {
            string key = $"key:{random.Next(4000)}";
            ulong hash = LocalEntries.HashOf(key) & mask;
            int choice = random.Next(10_000);
            if (choice < 2)
            {
                cache.Clear();
                gone += model.Count;
                model.Clear();
            }
            else if (choice < 10)
            {
                int shift = random.Next(56, 65);
                ulong value = shift == 64 ? 0 : hash >> shift;
                Assert.Equal(Forget(entry => shift == 64 || entry.Hash >> shift == value), cache.RemoveMany(shift, value));
            }
            else if (choice < 100)
            {
                Assert.Equal(Forget(entry => entry.Hash == hash), cache.RemoveHash(hash));
            }
            else if (choice < 1000)
            {
                Assert.Equal(Forget(entry => entry.Key == key) == 1, cache.Remove(hash, key));
            }
            else if (choice < 1500)
            {
                Assert.Equal(
                    model.TryGetValue(key, out LocalEntry? held) && Forget(entry => entry == held) == 1,
                    held is not null && cache.Remove(held));
            }
            else if (choice < 7000)
            {
                LocalEntry entry = LocalEntries.WithHash(key, hash);
                cache.Set(entry);
                gone += model.ContainsKey(key) ? 1 : 0;
                model[key] = entry;
            }
            else
            {
                Assert.Same(model.GetValueOrDefault(key), cache.Find(hash, key));
            }

            Assert.True(model.Count == cache.GetStatistics().Entries && gone == removed.Count, $"Step {step} of seed {seed}.");
        }

        Assert.All(model.Values, entry => Assert.Same(entry, cache.FindSurely(entry.Hash, entry.Key)));
        Assert.Equal(removed.Count, removed.Distinct().Count());
        Assert.DoesNotContain(removed, entry => model.ContainsValue(entry));

        int Forget(Func<LocalEntry, bool> condition)
        {
            var found = model.Values.Where(condition).ToList();
            found.ForEach(entry => model.Remove(entry.Key));
            gone += found.Count;
            return found.Count;
        }
    }

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Both_bounds_hold_after_every_set_whatever_the_sizes(int seed)
    {
        var random = new Random(seed);
        long maxEntries = random.Next(4096, 40_000);
        long maxBytes = random.Next(1 << 20, 20 << 20);
        var held = new HashSet<LocalEntry>();
        var cache = new LocalCache(maxEntries, maxBytes, entry => Assert.True(held.Remove(entry), $"Told twice of {entry.Key}."));

        for (int step = 0; step < 30_000; step++)
        {
            long bytes = random.Next(1000) == 0 ? random.NextInt64(maxBytes + (maxBytes / 10)) : random.Next(1, 1200);
            LocalEntry entry = LocalEntries.Of($"key:{random.Next(60_000)}", bytes);
            held.Add(entry);
            cache.Set(entry);

            LocalCacheStatistics statistics = cache.GetStatistics();
            Assert.True(
                statistics.Entries <= maxEntries && statistics.Bytes <= maxBytes && statistics.Entries == held.Count,
                $"Step {step} of seed {seed}: {statistics}, {held.Count} held.");
            Assert.True(bytes > maxBytes == (cache.Find(entry.Key) is null), $"Step {step} of seed {seed}: the entry just set.");
        }

        Assert.Equal(held.Sum(entry => entry.Bytes), cache.GetStatistics().Bytes);
        Assert.All(held, entry => Assert.Same(entry, cache.Find(entry.Key)));
    }
}
