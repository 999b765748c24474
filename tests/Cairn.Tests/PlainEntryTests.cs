using System.Text;

namespace Cairn.Tests;

/// <summary>The same entries by keys of every form, of which some take a fast path: text of each length, text that is not ASCII, and bytes.</summary>
public sealed class PlainEntryTests : StoreTest
{
    private static readonly string[] Texts =
    [
        "k", "ab", "abc", "abcd", "user:42", "user:123", "abcdefghijklmno", "abcdefghijklmnop", new('m', 32), new('n', 33), new('l', 85), new('x', 86),
        new('y', 400), "naïve", "ключ", new string('é', 20),
    ];

    public static TheoryData<string> Keys => [.. Texts];

    [Theory]
    [MemberData(nameof(Keys))]
    public void Text_names_the_same_entry_as_its_bytes(string key)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(key);
        byte[] buffer = new byte[8];
        foreach (Expiration expiration in new[] { Expiration.None, Expiration.After(TimeSpan.FromMinutes(1)), Expiration.Sliding(TimeSpan.FromMinutes(1)) })
        {
            // The first set of a key takes another path than the ones that replace its entry.
            for (byte i = 1; i <= 3; i++)
            {
                Assert.True(Cache.Set(key, [i, 1], expiration));
                AssertValue(bytes, [i, 1]);
                AssertValue(key, [i, 1]);
                Assert.True(Cache.Set(bytes, [i, 2, 3], expiration));
                AssertValue(bytes, [i, 2, 3]);
                AssertValue(key, [i, 2, 3]);
            }

            Assert.True(Cache.TryGet(key, buffer, out EntryInfo byText));
            Assert.True(Cache.TryGet(bytes, buffer, out EntryInfo byBytes));
            Assert.Equal(byBytes, byText);
            Assert.True(Cache.TryGetInfo(key, out EntryInfo info));
            Assert.Equal(info, byText);
        }

        void AssertValue(CacheKey key, byte[] value)
        {
            Assert.True(Cache.TryGet(key, buffer, out int length));
            Assert.Equal(value, buffer[..length]);
        }
    }

    [Theory]
    [MemberData(nameof(Keys))]
    public void Entry_that_was_replaced_expires_at_the_deadline_of_the_last_set(string key)
    {
        byte[] buffer = new byte[8];
        Cache.Set(key, [1], TimeSpan.FromSeconds(10));
        Clock.Advance(TimeSpan.FromSeconds(9));
        Cache.Set(key, [2], TimeSpan.FromSeconds(10));
        Clock.Advance(TimeSpan.FromSeconds(10) - TimeSpan.FromMilliseconds(1));

        Assert.True(Cache.TryGet(key, buffer, out EntryInfo info));
        Assert.Equal(Clock.Now + TimeSpan.FromMilliseconds(1), info.ExpiresAt);
        Assert.Equal(0u, info.Flags);
        Clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.False(Cache.TryGet(key, buffer, out info));
        Assert.Equal(default, info);
        Assert.True(Cache.TryGetStale(key, buffer, out info));
        Assert.Equal(Clock.Now, info.ExpiresAt);

        // The expired entry is counted when it is replaced.
        Cache.Set(key, [3], TimeSpan.FromSeconds(10));
        Assert.Equal(1, Store.GetStatistics().Totals.Expirations);
        Assert.True(Cache.TryGet(key, buffer, out int length));
        Assert.Equal([3], buffer[..length]);
    }

    [Theory]
    [MemberData(nameof(Keys))]
    public void Every_read_counts_once_as_a_hit_or_a_miss(string key)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(key);
        byte[] buffer = new byte[8];
        Assert.False(Cache.TryGet(key, buffer, out int length));
        Assert.Equal(0, length);
        Assert.False(Cache.TryGet(bytes, buffer, out EntryInfo _));
        Cache.Set(key, [1], TimeSpan.FromSeconds(10));
        Assert.True(Cache.TryGet(key, buffer, out int _));
        Assert.True(Cache.TryGet(bytes, buffer, out int _));
        Clock.Advance(TimeSpan.FromSeconds(10));
        Assert.False(Cache.TryGet(key, buffer, out int _));
        Cache.Remove(key);
        Assert.False(Cache.TryGet(key, buffer, out int _));

        StoreStatistics statistics = Store.GetStatistics();
        Assert.Equal((2, 4), (statistics.Totals.Hits, statistics.Totals.Misses));
    }

    [Fact]
    public void Entries_with_and_without_deadlines_replace_each_other_and_stay_accounted_for()
    {
        var random = new Random(11);
        for (int i = 0; i < 20_000; i++)
        {
            Expiration expiration = random.Next(3) switch
            {
                0 => Expiration.None,
                1 => Expiration.After(TimeSpan.FromSeconds(random.Next(1, 1000))),
                _ => Expiration.Sliding(TimeSpan.FromSeconds(random.Next(1, 1000))),
            };
            Cache.Set($"key:{random.Next(50)}", new byte[random.Next(200)], expiration, flags: random.Next(8) == 0 ? 7u : 0);
            Clock.Advance(TimeSpan.FromMilliseconds(random.Next(20)));
        }

        // The counts of entries with deadlines, against the entries themselves.
        EntryInfo[] infos =
        [
            .. Enumerable.Range(0, 50).Select(i => Cache.TryGetInfo($"key:{i}", out EntryInfo info) ? info : default).Where(info => info.ExpiresAt is not null),
        ];
        (long entries, TimeSpan averageLeft) = Store.GetExpiring();
        Assert.Equal(infos.Length, entries);
        Assert.Equal(
            infos.Where(info => info.SlidingInterval is null).Average(info => (info.ExpiresAt!.Value - Clock.Now).TotalMilliseconds),
            averageLeft.TotalMilliseconds,
            tolerance: 1);
        Store.Dispose();
        Assert.True(StoreMaintenance.Verify(FilePath).IsSound);
    }
}
