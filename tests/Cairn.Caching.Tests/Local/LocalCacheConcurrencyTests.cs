using Cairn.Caching.Local;

namespace Cairn.Caching.Tests.Local;

/// <summary>Many threads on one level. A seed, which a failure names, determines their operations but not their interleaving.</summary>
public class LocalCacheConcurrencyTests
{
    private const long Plenty = long.MaxValue;

    public static TheoryData<int, int> SeedsAndSizes => new() { { 1, 50 }, { 2, 500 }, { 3, 9000 }, { 4, 65_536 } };

    /// <summary>I1 of the level: each change of a key has a number, and the least number that may be read rises when a change returns.</summary>
    [Theory]
    [MemberData(nameof(SeedsAndSizes))]
    public async Task No_read_returns_what_was_removed_or_replaced_before_it_began(int seed, int maxEntries)
    {
        const int Writers = 3;
        const int Readers = 3;
        const int ChangesPerWriter = 60_000;
        int keys = Math.Min(maxEntries * 2, 20_000);
        string[] names = [.. Enumerable.Range(0, keys).Select(i => $"key:{i}")];
        ulong[] hashes = [.. names.Select(LocalEntries.HashOf)];
        object[] locks = [.. names.Select(_ => new object())];
        long[] started = new long[keys];
        long[] ended = new long[keys];
        long[] least = new long[keys];
        var cache = new LocalCache(maxEntries, Plenty);
        using var writing = new CountdownEvent(Writers);

        await Task.WhenAll([
            .. Enumerable.Range(0, Writers).Select(i => OwnThread.Run(() => Write(new Random((seed * 100) + i)))),
            .. Enumerable.Range(0, Readers).Select(i => OwnThread.Run(() => Read(new Random((seed * 100) + 50 + i)))),
        ]);

        void Write(Random random)
        {
            try
            {
                for (int change = 0; change < ChangesPerWriter; change++)
                {
                    int key = random.Next(keys);
                    switch (random.Next(20_000))
                    {
                        case < 3:
                            // Everything that was set before this call begins must be gone when it returns. Values that are set during the call may stay.
                            int shift = random.Next(58, 65);
                            ulong value = shift == 64 ? 0 : hashes[key] >> shift;
                            long[] before = [.. Enumerable.Range(0, keys).Select(k => Volatile.Read(ref ended[k]))];
                            cache.RemoveMany(shift, value);
                            for (int k = 0; k < keys; k++)
                            {
                                if (shift == 64 || hashes[k] >> shift == value)
                                {
                                    Raise(ref least[k], before[k] + 1);
                                }
                            }

                            break;
                        case < 4:
                            before = [.. Enumerable.Range(0, keys).Select(k => Volatile.Read(ref ended[k]))];
                            cache.Clear();
                            for (int k = 0; k < keys; k++)
                            {
                                Raise(ref least[k], before[k] + 1);
                            }

                            break;
                        case < 2000:
                            Change(key, _ => cache.Remove(hashes[key], names[key]));
                            break;
                        case < 2500:
                            Change(key, _ => cache.RemoveHash(hashes[key]));
                            break;
                        default:
                            Change(key, number => cache.Set(new LocalEntry(names[key], hashes[key]) { Bytes = 1, Value = number }));
                            break;
                    }
                }
            }
            finally
            {
                writing.Signal();
            }
        }

        // The changes of one key follow each other, so that the reads can be checked against an order.
        void Change(int key, Action<long> change)
        {
            lock (locks[key])
            {
                long number = ++started[key];
                change(number);
                Volatile.Write(ref ended[key], number);
                Raise(ref least[key], number);
            }
        }

        void Read(Random random)
        {
            while (!writing.IsSet)
            {
                int key = random.Next(keys);
                long atLeast = Volatile.Read(ref least[key]);

                LocalEntry? entry = random.Next(100) == 0 ? cache.FindSurely(hashes[key], names[key]) : cache.Find(hashes[key], names[key]);

                if (entry is not null)
                {
                    Assert.Equal(names[key], entry.Key);
                    Assert.True((long)entry.Value! >= atLeast, $"Seed {seed}: read change {entry.Value} of {entry.Key} after change {atLeast}.");
                }
            }
        }
    }

    /// <summary>I4 of a shard.</summary>
    [Theory]
    [InlineData(1, 8000)]
    [InlineData(2, 100_000)]
    public async Task Whatever_is_there_all_the_while_is_found_while_the_table_grows(int seed, int maxEntries)
    {
        const int Rounds = 60;
        const int Keys = 8000;
        string[] names = [.. Enumerable.Range(0, Keys).Select(i => $"key:{i}")];
        ulong[] hashes = [.. names.Select(LocalEntries.HashOf)];
        LocalCache cache = new(maxEntries, Plenty);
        int present = 0;
        bool isOver = false;
        long reads = 0;

        await Task.WhenAll(OwnThread.Run(Fill), OwnThread.Run(() => Read(new Random(seed))), OwnThread.Run(() => Read(new Random(seed + 100))));

        Assert.True(reads > Rounds, $"There were {reads} reads.");

        void Fill()
        {
            for (int round = 0; round < Rounds; round++)
            {
                Volatile.Write(ref present, 0);
                Volatile.Write(ref cache, new LocalCache(maxEntries, Plenty));
                for (int key = 0; key < Keys; key++)
                {
                    cache.Set(new LocalEntry(names[key], hashes[key]) { Bytes = 1 });
                    Volatile.Write(ref present, key + 1);
                }
            }

            Volatile.Write(ref isOver, true);
        }

        void Read(Random random)
        {
            while (!Volatile.Read(ref isOver))
            {
                // The order matters. If the level is replaced between the two reads, the counted keys are those of the new level. The old level has
                // all of them.
                LocalCache asked = Volatile.Read(ref cache);
                int known = Volatile.Read(ref present);
                if (known == 0)
                {
                    continue;
                }

                int key = random.Next(known);
                Assert.True(asked.Find(hashes[key], names[key]) is not null, $"Seed {seed}: {names[key]} of {known} was not found.");
                Interlocked.Increment(ref reads);
            }
        }
    }

    /// <summary>I3 of a shard.</summary>
    [Fact]
    public async Task Whatever_is_there_all_the_while_is_found_while_its_neighbours_come_and_go()
    {
        // All keys are in one chain.
        const ulong Hash = 42;
        const int Steps = 300_000;
        string[] staying = [.. Enumerable.Range(0, 6).Select(i => $"stays:{i}")];
        string[] moving = [.. Enumerable.Range(0, 6).Select(i => $"moves:{i}")];
        var cache = new LocalCache(Plenty, Plenty);
        for (int i = 0; i < staying.Length; i++)
        {
            cache.Set(LocalEntries.WithHash(moving[i], Hash));
            cache.Set(LocalEntries.WithHash(staying[i], Hash));
        }

        bool isOver = false;

        await Task.WhenAll(OwnThread.Run(Change), OwnThread.Run(Read), OwnThread.Run(Read));

        void Change()
        {
            var random = new Random(1);
            for (int step = 0; step < Steps; step++)
            {
                string key = moving[random.Next(moving.Length)];
                if (random.Next(2) == 0)
                {
                    cache.Remove(Hash, key);
                }
                else
                {
                    cache.Set(LocalEntries.WithHash(key, Hash));
                }

                if (step % 4 == 0)
                {
                    cache.Set(LocalEntries.WithHash(staying[random.Next(staying.Length)], Hash));
                }
            }

            Volatile.Write(ref isOver, true);
        }

        void Read()
        {
            while (!Volatile.Read(ref isOver))
            {
                foreach (string key in staying)
                {
                    Assert.True(cache.Find(Hash, key) is not null, $"{key} was not found.");
                }
            }
        }
    }

    [Theory]
    [MemberData(nameof(SeedsAndSizes))]
    public async Task Every_opening_is_notified_once_of_each_entry_that_left_and_of_no_other(int seed, int maxEntries)
    {
        const int Threads = 4;
        const int Steps = 40_000;
        int keys = maxEntries * 2;
        long maxBytes = maxEntries * 300L;
        var cache = new LocalCache(maxEntries, maxBytes, entry => Interlocked.Increment(ref ((StrongBox)entry.Value!).Told));
        List<LocalEntry>[] entries = [.. Enumerable.Range(0, Threads).Select(_ => new List<LocalEntry>())];

        await Task.WhenAll(Enumerable.Range(0, Threads).Select(i => OwnThread.Run(() => Work(new Random((seed * 100) + i), entries[i]))));

        LocalCacheStatistics statistics = cache.GetStatistics();
        var held = entries.SelectMany(list => list).Where(entry => cache.Find(entry.Hash, entry.Key) == entry).ToHashSet();
        Assert.Equal(held.Count, statistics.Entries);
        Assert.Equal(held.Sum(entry => entry.Bytes), statistics.Bytes);
        Assert.InRange(statistics.Entries, 0, maxEntries);
        Assert.InRange(statistics.Bytes, 0, maxBytes);
        Assert.All(
            entries.SelectMany(list => list),
            entry => Assert.True(
                ((StrongBox)entry.Value!).Told == (held.Contains(entry) ? 0 : 1),
                $"Seed {seed}: {entry.Key} is {(held.Contains(entry) ? "" : "not ")}there, and was reported {((StrongBox)entry.Value).Told} times."));

        void Work(Random random, List<LocalEntry> mine)
        {
            for (int step = 0; step < Steps; step++)
            {
                string key = $"key:{random.Next(keys)}";
                ulong hash = LocalEntries.HashOf(key);
                switch (random.Next(20_000))
                {
                    case 0:
                        cache.Clear();
                        break;
                    case < 5:
                        cache.RemoveMany(60, hash >> 60);
                        break;
                    case < 1000:
                        cache.Remove(hash, key);
                        break;
                    case < 2000 when mine.Count > 0:
                        cache.Remove(mine[random.Next(mine.Count)]);
                        break;
                    case < 3000:
                        cache.RemoveHash(hash);
                        break;
                    case < 10_000:
                        cache.Find(hash, key);
                        break;
                    default:
                        long bytes = random.Next(500) == 0 ? random.NextInt64(maxBytes * 2) : random.Next(1, 600);
                        var entry = new LocalEntry(key, hash) { Bytes = bytes, Value = new StrongBox() };
                        mine.Add(entry);
                        cache.Set(entry);
                        break;
                }
            }
        }
    }

    // Raises a number that other threads raise too.
    private static void Raise(ref long target, long value)
    {
        long seen = Volatile.Read(ref target);
        while (seen < value)
        {
            long found = Interlocked.CompareExchange(ref target, value, seen);
            if (found == seen)
            {
                return;
            }

            seen = found;
        }
    }

    private sealed class StrongBox
    {
        public int Told;
    }
}
