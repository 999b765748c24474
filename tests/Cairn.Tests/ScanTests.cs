using System.Text;

namespace Cairn.Tests;

/// <summary>Listing keys.</summary>
public sealed class ScanTests : StoreTest
{
    [Fact]
    public void Every_entry_is_listed_once_with_what_is_known_of_it()
    {
        for (int i = 0; i < 1000; i++)
        {
            Cache.Set($"key {i}", TestBytes.Of(i), flags: (uint)i);
        }

        StoreEntry[] entries = [.. Cache.Entries()];

        Assert.Equal(1000, entries.Length);
        Assert.Equal(1000, entries.Select(entry => entry.KeyText).Distinct().Count());
        Assert.All(entries, entry => Assert.Equal($"key {entry.Info.ValueBytes}", entry.KeyText));
        Assert.All(entries, entry => Assert.Equal((uint)entry.Info.ValueBytes, entry.Info.Flags));
    }

    [Fact]
    public void Expired_removed_and_cleared_entries_and_leases_are_not_listed()
    {
        Cache.Set("expired", "x"u8, TimeSpan.FromSeconds(1));
        Cache.Set("removed", "x"u8);
        Store.Collection("other").Set("cleared", "x"u8);
        Cache.AcquireLease("leased", TimeSpan.Zero, out StoreLease? lease);
        Cache.Set("here", "x"u8);
        Cache.Remove("removed");
        Store.Collection("other").Clear();
        Clock.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal(["here"], Cache.Entries().Select(entry => entry.KeyText));
        Assert.Empty(Store.Collection("other").Entries());
        lease!.Dispose();
    }

    [Fact]
    public void Collections_list_their_own_keys()
    {
        Cache.Set("a", "x"u8);
        Store.Collection("one").Set("b", "x"u8);
        Store.Collection("two").Set("a", "x"u8);

        Assert.Equal(["a"], Cache.Entries().Select(entry => entry.KeyText));
        Assert.Equal(["b"], Store.Collection("one").Entries().Select(entry => entry.KeyText));
        Assert.Equal(["a"], Store.Collection("two").Entries().Select(entry => entry.KeyText));
    }

    [Fact]
    public void Filter_chooses_by_prefix_or_pattern()
    {
        foreach (string key in (string[])["book:1", "book:2", "book:10", "film:1", "b"])
        {
            Cache.Set(key, "x"u8);
        }

        Assert.Equal(["book:1", "book:10", "book:2"], Keys(KeyFilter.Prefix("book:")));
        Assert.Equal(["book:1", "book:10", "book:2"], Keys(KeyFilter.Prefix("book:"u8)));
        Assert.Equal(["book:1", "book:2"], Keys(KeyFilter.Glob("book:?")));
        Assert.Equal(["book:1", "film:1"], Keys(KeyFilter.Glob("*:1")));
        Assert.Equal(["b"], Keys(KeyFilter.Glob("b")));
        Assert.Equal(["b", "book:1", "book:10", "book:2", "film:1"], Keys(KeyFilter.Glob("*"u8)));
        Assert.Empty(Keys(KeyFilter.Prefix("c")));
        Assert.Equal(5, Keys(KeyFilter.Prefix("")).Length);
    }

    [Fact]
    public void Filter_arguments_are_checked()
    {
        Assert.Throws<ArgumentNullException>(() => KeyFilter.Prefix((string)null!));
        Assert.Throws<ArgumentNullException>(() => KeyFilter.Glob((string)null!));
        Assert.Throws<ArgumentNullException>(() =>
        {
            var cursor = default(ScanCursor);
            Cache.Scan(ref cursor, null, null!);
        });
    }

    [Fact]
    public void Scan_can_be_continued_by_another_opening()
    {
        for (int i = 0; i < 2000; i++)
        {
            Cache.Set($"key {i}", "x"u8);
        }

        var seen = new List<string>();
        var cursor = default(ScanCursor);
        CairnStore[] stores = [Store, OpenAgain()];
        int steps = 0;
        while (stores[steps % 2].DefaultCollection.Scan(ref cursor, null, (key, _) => seen.Add(Encoding.UTF8.GetString(key))))
        {
            cursor = new ScanCursor(cursor.Position);
            steps++;
        }

        Assert.True(steps > 2);
        Assert.Equal(2000, seen.Count);
        Assert.Equal(2000, seen.Distinct(StringComparer.Ordinal).Count());
        Assert.False(Cache.Scan(ref cursor, null, (_, _) => Assert.Fail("The scan was over.")));
    }

    [Fact]
    public void Visitor_may_change_the_store()
    {
        for (int i = 0; i < 500; i++)
        {
            Cache.Set($"key {i}", "x"u8);
        }

        var cursor = default(ScanCursor);
        int visited = 0;
        while (Cache.Scan(ref cursor, null, (key, _) =>
        {
            visited++;
            Cache.Remove(key);
        }))
        {
        }

        Assert.Equal(500, visited);
        Assert.Empty(Cache.Entries());
    }

    [Fact]
    public void Exception_of_a_visitor_ends_the_scan_and_leaves_the_cursor()
    {
        Cache.Set("key", "x"u8);
        var cursor = default(ScanCursor);

        Assert.Throws<FormatException>(() =>
        {
            while (Cache.Scan(ref cursor, null, (_, _) => throw new FormatException()))
            {
            }
        });

        int visited = 0;
        while (Cache.Scan(ref cursor, null, (_, _) => visited++))
        {
        }

        Assert.Equal(1, visited);
    }

    [Fact]
    public async Task Key_that_lives_through_the_scan_is_seen_exactly_once_under_concurrent_change()
    {
        const int Kept = 2000;
        for (int i = 0; i < Kept; i++)
        {
            Cache.Set($"kept {i}", "x"u8);
        }

        using var stop = new CancellationTokenSource();
        Task changing = OwnThread.Run(() =>
        {
            var random = new Random(17);
            while (!stop.IsCancellationRequested)
            {
                string key = $"passing {random.Next(5000)}";
                if (random.Next(2) == 0)
                {
                    Cache.Set(key, TestBytes.Of(random.Next(50)));
                }
                else
                {
                    Cache.Remove(key);
                }

                // A new value at a new place in the log, but the same key.
                Cache.Set($"kept {random.Next(Kept)}", TestBytes.Of(random.Next(20)));
            }
        });

        for (int round = 0; round < 10; round++)
        {
            string[] seen = [.. Cache.Entries(KeyFilter.Prefix("kept ")).Select(entry => entry.KeyText)];
            Assert.Equal(Kept, seen.Length);
            Assert.Equal(Kept, seen.Distinct(StringComparer.Ordinal).Count());
        }

        await stop.CancelAsync();
        await changing;
        Assert.Equal(0, Store.GetStatistics().Totals.Evictions);
    }

    private string[] Keys(KeyFilter filter) =>
        [.. Cache.Entries(filter).Select(entry => entry.KeyText).Order(StringComparer.Ordinal)];
}
