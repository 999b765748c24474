using System.Text;

namespace Cairn.Tests;

/// <summary>
/// The same entries by keys of every form, of which some take a fast path: text of each length, text that is not ASCII, and bytes. In the default
/// collection, in named ones, and in ones whose entries are kept.
/// </summary>
public sealed class PlainEntryTests : StoreTest
{
    private static readonly string[] Collections = ["default", "named", "kept", "expiring by default"];

    private static readonly string[] Texts =
    [
        "k", "ab", "abc", "abcd", "user:42", "user:123", "abcdefghijklmno", "abcdefghijklmnop", new('m', 32), new('n', 33), new('l', 85), new('x', 86),
        new('y', 400), "naïve", "ключ", new string('é', 20),
    ];

    public static TheoryData<string, string> CollectionsAndKeys
    {
        get
        {
            var cases = new TheoryData<string, string>();
            foreach (string collection in Collections)
            {
                foreach (string key in Texts)
                {
                    cases.Add(collection, key);
                }
            }

            return cases;
        }
    }

    private CairnCollection Open(string collection) => collection switch
    {
        "default" => Cache,
        "kept" => Store.Collection(collection, new CollectionOptions { Region = StoreRegion.Keep }),
        "expiring by default" => Store.Collection(collection, new CollectionOptions { DefaultExpiration = TimeSpan.FromSeconds(500) }),
        _ => Store.Collection(collection),
    };

    [Theory]
    [MemberData(nameof(CollectionsAndKeys))]
    public void Text_names_the_same_entry_as_its_bytes(string collection, string key)
    {
        CairnCollection cache = Open(collection);
        byte[] bytes = Encoding.UTF8.GetBytes(key);
        byte[] buffer = new byte[8];
        foreach (Expiration expiration in new[] { Expiration.None, Expiration.After(TimeSpan.FromMinutes(1)), Expiration.Sliding(TimeSpan.FromMinutes(1)) })
        {
            // The first set of a key takes another path than the ones that replace its entry.
            for (byte i = 1; i <= 3; i++)
            {
                Assert.True(cache.Set(key, [i, 1], expiration));
                AssertValue(bytes, [i, 1]);
                AssertValue(key, [i, 1]);
                Assert.True(cache.Set(bytes, [i, 2, 3], expiration));
                AssertValue(bytes, [i, 2, 3]);
                AssertValue(key, [i, 2, 3]);
            }

            Assert.True(cache.TryGet(key, buffer, out EntryInfo byText));
            Assert.True(cache.TryGet(bytes, buffer, out EntryInfo byBytes));
            Assert.Equal(byBytes, byText);
            Assert.True(cache.TryGetInfo(key, out EntryInfo info));
            Assert.Equal(info, byText);
        }

        void AssertValue(CacheKey key, byte[] value)
        {
            Assert.True(cache.TryGet(key, buffer, out int length));
            Assert.Equal(value, buffer[..length]);
        }
    }

    [Theory]
    [MemberData(nameof(CollectionsAndKeys))]
    public void Entry_that_was_replaced_expires_at_the_deadline_of_the_last_set(string collection, string key)
    {
        CairnCollection cache = Open(collection);
        byte[] buffer = new byte[8];
        cache.Set(key, [1], TimeSpan.FromSeconds(10));
        Clock.Advance(TimeSpan.FromSeconds(9));
        cache.Set(key, [2], TimeSpan.FromSeconds(10));
        Clock.Advance(TimeSpan.FromSeconds(10) - TimeSpan.FromMilliseconds(1));

        Assert.True(cache.TryGet(key, buffer, out EntryInfo info));
        Assert.Equal(Clock.Now + TimeSpan.FromMilliseconds(1), info.ExpiresAt);
        Assert.Equal(0u, info.Flags);
        Clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.False(cache.TryGet(key, buffer, out info));
        Assert.Equal(default, info);
        Assert.True(cache.TryGetStale(key, buffer, out info));
        Assert.Equal(Clock.Now, info.ExpiresAt);

        // The expired entry is counted when it is replaced.
        cache.Set(key, [3], TimeSpan.FromSeconds(10));
        Assert.Equal(1, Store.GetStatistics().Totals.Expirations);
        Assert.True(cache.TryGet(key, buffer, out int length));
        Assert.Equal([3], buffer[..length]);
    }

    [Theory]
    [MemberData(nameof(CollectionsAndKeys))]
    public void Every_read_counts_once_as_a_hit_or_a_miss(string collection, string key)
    {
        CairnCollection cache = Open(collection);
        byte[] bytes = Encoding.UTF8.GetBytes(key);
        byte[] buffer = new byte[8];
        Assert.False(cache.TryGet(key, buffer, out int length));
        Assert.Equal(0, length);
        Assert.False(cache.TryGet(bytes, buffer, out EntryInfo _));
        cache.Set(key, [1], TimeSpan.FromSeconds(10));
        Assert.True(cache.TryGet(key, buffer, out int _));
        Assert.True(cache.TryGet(bytes, buffer, out int _));
        Clock.Advance(TimeSpan.FromSeconds(10));
        Assert.False(cache.TryGet(key, buffer, out int _));
        cache.Remove(key);
        Assert.False(cache.TryGet(key, buffer, out int _));

        StoreStatistics statistics = Store.GetStatistics();
        Assert.Equal((2, 4), (statistics.Totals.Hits, statistics.Totals.Misses));
    }

    [Theory]
    [InlineData("default")]
    [InlineData("named")]
    [InlineData("kept")]
    [InlineData("expiring by default")]
    public void Entries_with_and_without_deadlines_replace_each_other_and_stay_accounted_for(string collection)
    {
        CairnCollection cache = Open(collection);
        var random = new Random(11);
        for (int i = 0; i < 20_000; i++)
        {
            Expiration expiration = random.Next(5) switch
            {
                0 => default,
                1 => Expiration.None,
                2 => Expiration.At(Clock.Now + TimeSpan.FromMilliseconds(random.Next(-10, 1_000_000))),
                3 => Expiration.After(TimeSpan.FromSeconds(random.Next(1, 1000))),
                _ => Expiration.Sliding(TimeSpan.FromSeconds(random.Next(1, 1000))),
            };
            cache.Set($"key:{random.Next(50)}", new byte[random.Next(200)], expiration, flags: random.Next(8) == 0 ? 7u : 0);
            Clock.Advance(TimeSpan.FromMilliseconds(random.Next(20)));
        }

        // The counts of entries with deadlines, against the entries themselves. Only the default collection has them.
        if (cache == Cache)
        {
            EntryInfo[] infos =
            [
                .. Enumerable.Range(0, 50).Select(i => cache.TryGetInfo($"key:{i}", out EntryInfo info) ? info : default).Where(info => info.ExpiresAt is not null),
            ];
            (long entries, TimeSpan averageLeft) = Store.GetExpiring();
            Assert.Equal(infos.Length, entries);
            Assert.Equal(
                infos.Where(info => info.SlidingInterval is null).Average(info => (info.ExpiresAt!.Value - Clock.Now).TotalMilliseconds),
                averageLeft.TotalMilliseconds,
                tolerance: 1);
        }

        // The verification compares the other counts with the entries.
        Store.Dispose();
        VerifyReport report = StoreMaintenance.Verify(FilePath);
        Assert.True(report.IsSound, string.Join('\n', report.Findings));
        Assert.Equal(0, report.NoteCount);
    }
}
