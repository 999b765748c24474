namespace Cairn.Tests.Collections;

/// <summary>Named collections of a store.</summary>
public sealed class CollectionTests : StoreTest
{
    [Fact]
    public void Collections_have_keys_of_their_own()
    {
        CairnCollection books = Store.Collection("books");
        CairnCollection films = Store.Collection("films");

        Cache.Set("42", "store"u8);
        books.Set("42", "book"u8);
        films.Set("42", "film"u8);

        Assert.Equal("store", Cache.GetString("42"));
        Assert.Equal("book", books.GetString("42"));
        Assert.Equal("film", films.GetString("42"));
        books.Remove("42");
        Assert.Equal("store", Cache.GetString("42"));
        Assert.False(books.Contains("42"));
        Assert.Equal("film", films.GetString("42"));
    }

    [Fact]
    public void Default_collection_is_there_from_the_beginning_and_has_no_name()
    {
        CairnCollection cache = Store.DefaultCollection;

        Assert.Equal("", cache.Name);
        Assert.Same(cache, Store.DefaultCollection);
        Assert.Empty(Store.CollectionNames);
    }

    // A program that holds only a collection does not lose the store's timers.
    [Fact]
    public void Collection_holds_its_store()
    {
        Assert.Same(Store, Store.DefaultCollection.Store);
        Assert.Same(Store, Store.Collection("books").Store);
    }

    [Fact]
    public void Same_name_is_the_same_collection_also_in_another_opening()
    {
        CairnCollection books = Store.Collection("books");
        books.Set("42", "Dune"u8);

        Assert.Same(books, Store.Collection("books"));
        CairnStore other = OpenAgain();
        Assert.Equal(["books"], other.CollectionNames);
        Assert.Equal("Dune", other.Collection("books").GetString("42"));
        Assert.Equal("books", books.Name);
        Assert.Equal("", Cache.Name);
    }

    [Fact]
    public void Names_differ_by_case_and_may_be_any_text()
    {
        string longest = new('n', 192);
        foreach (string name in (string[])["a", "A", " ", "имя", longest])
        {
            Store.Collection(name).Set("key", System.Text.Encoding.UTF8.GetBytes(name));
        }

        Assert.Equal(["a", "A", " ", "имя", longest], Store.CollectionNames);
        Assert.Equal("A", Store.Collection("A").GetString("key"));
        Assert.Equal(longest, OpenAgain().Collection(longest).GetString("key"));
    }

    [Fact]
    public void Name_out_of_range_is_refused()
    {
        Assert.Throws<ArgumentException>(() => Store.Collection(""));
        Assert.Throws<ArgumentNullException>(() => Store.Collection(null!));
        Assert.Throws<ArgumentException>(() => Store.Collection(new string('n', 193)));
        Assert.Throws<ArgumentException>(() => Store.Collection(new string('é', 97)));
        Assert.Throws<ArgumentException>(() => Store.Collection("\ud800"));
        Assert.Empty(Store.CollectionNames);
    }

    [Fact]
    public void Collection_127_is_the_last()
    {
        for (int i = 1; i <= 127; i++)
        {
            Store.Collection($"{i}").Set("key", [(byte)i]);
        }

        var refused = Assert.Throws<StoreException>(() => Store.Collection("128"));

        Assert.Contains("127", refused.Message, StringComparison.Ordinal);
        Assert.Equal([(byte)127], Store.Collection("127").Get("key")!);
        Assert.Equal(127, Store.CollectionNames.Count);
    }

    [Fact]
    public void Default_expiration_applies_unless_an_entry_has_its_own()
    {
        CairnCollection books = Store.Collection("books", new() { DefaultExpiration = TimeSpan.FromSeconds(10) });
        books.Set("default", "x"u8);
        books.Set("none", "x"u8, Expiration.None);
        books.Set("own", "x"u8, TimeSpan.FromSeconds(20));
        Cache.Set("default", "x"u8);

        Clock.Advance(TimeSpan.FromSeconds(10));

        Assert.False(books.Contains("default"));
        Assert.True(books.Contains("none"));
        Assert.True(books.Contains("own"));
        Assert.True(Cache.Contains("default"));
    }

    [Fact]
    public void Default_expiration_may_slide()
    {
        CairnCollection books =
            Store.Collection("books", new() { DefaultExpiration = Expiration.Sliding(TimeSpan.FromSeconds(10)) });
        books.Set("key", "x"u8);

        Clock.Advance(TimeSpan.FromSeconds(9));
        Assert.NotNull(books.Get("key"));
        Clock.Advance(TimeSpan.FromSeconds(9));
        Assert.True(books.Contains("key"));
        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.False(books.Contains("key"));
    }

    [Fact]
    public void Options_are_remembered_and_changed_by_opening_with_others()
    {
        Store.Collection("books", new() { DefaultExpiration = TimeSpan.FromSeconds(10), BudgetBytes = 1000 });
        CairnStore other = OpenAgain();

        other.Collection("books").Set("a", "x"u8);
        other.Collection("books", new() { DefaultExpiration = Expiration.None });
        Store.Collection("books").Set("b", "x"u8);

        Clock.Advance(TimeSpan.FromSeconds(10));
        Assert.False(Store.Collection("books").Contains("a"));
        Assert.True(Store.Collection("books").Contains("b"));
        Assert.Equal(0, Store.GetStatistics().Collections[0].BudgetBytes);
    }

    [Fact]
    public void Options_out_of_range_are_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => Store.Collection("a", new() { BudgetBytes = -1 }));
        Assert.Throws<ArgumentException>(
            () => Store.Collection("a", new() { DefaultExpiration = Expiration.At(DateTimeOffset.MaxValue) }));
        Assert.Throws<ArgumentException>(
            () => Store.Collection("a", new() { DefaultExpiration = Expiration.Sliding(TimeSpan.FromDays(1), Clock.Now) }));
        Assert.Empty(Store.CollectionNames);
    }

    [Fact]
    public void Clear_empties_one_collection_and_leaves_the_others()
    {
        CairnCollection books = Store.Collection("books");
        for (int i = 0; i < 100; i++)
        {
            Cache.Set($"{i}", "store"u8);
            books.Set($"{i}", "book"u8);
        }

        Assert.True(books.Clear());
        Assert.Empty(books.Entries());
        Assert.Equal(100, Cache.Entries().Count());
        Assert.False(books.Contains("1"));
        Assert.False(books.TryGetStale("1", new byte[10], out _));

        books.Set("1", "again"u8);
        Assert.True(Cache.Clear());
        Assert.Empty(Cache.Entries());
        Assert.Equal("again", books.GetString("1"));

        Cache.Set("1", "store"u8);
        Assert.True(Store.ClearAll());
        Assert.Empty(Cache.Entries());
        Assert.Empty(books.Entries());
        Assert.Equal(0, Store.GetStatistics().Totals.Entries);
    }

    [Fact]
    public void Cleared_keys_can_be_used_again_in_every_way()
    {
        Cache.Set("a", "old"u8);
        Cache.Set("b", "old"u8);
        Cache.Set("c", "7"u8);
        Cache.TryGetInfo("a", out EntryInfo info);
        Cache.Clear();

        Assert.Equal(WriteStatus.NotFound, Cache.Replace("a", "x"u8));
        Assert.Equal(WriteStatus.NotFound, Cache.Append("a", "x"u8));
        Assert.Equal(WriteStatus.NotFound, Cache.Touch("a", TimeSpan.FromDays(1)));
        Assert.Equal(WriteStatus.NotFound, Cache.CompareAndSwap("a", "x"u8, info.Version));
        Assert.Equal(WriteStatus.NotFound, Cache.CompareAndRemove("a", info.Version));
        Assert.False(Cache.Remove("a"));
        Assert.Equal(WriteStatus.Stored, Cache.Add("b", "new"u8));
        Assert.Equal(WriteStatus.NotFound, Cache.Increment("c", 1, out _));
        Assert.Equal("new", Cache.GetString("b"));
    }

    [Fact]
    public void Clear_costs_the_same_however_much_there_is()
    {
        for (int i = 0; i < 5000; i++)
        {
            Cache.Set($"{i}", TestBytes.Of(100));
        }

        StoreStatistics before = Store.GetStatistics();
        Cache.Clear();
        StoreStatistics after = Store.GetStatistics();

        // No segment is reclaimed: all segments keep their state.
        Assert.Equal(before.Totals.SegmentBytes, after.Totals.SegmentBytes);
        Assert.Equal(before.Totals.Removals, after.Totals.Removals);
        Assert.Equal(0, after.Totals.Entries);
        Assert.Equal(0, after.Totals.Bytes);
    }

    [Fact]
    public void Space_of_cleared_entries_is_used_again()
    {
        for (int round = 0; round < 30; round++)
        {
            for (int i = 0; i < 500; i++)
            {
                Assert.True(Cache.Set($"{i}", TestBytes.Of(1000, seed: round)));
            }

            for (int i = 0; i < 500; i++)
            {
                Assert.Equal(TestBytes.Of(1000, seed: round), Cache.Get($"{i}"));
            }

            Cache.Clear();
        }

        Assert.Equal(0, Store.GetStatistics().Totals.Evictions);
    }

    [Fact]
    public void Collection_over_its_budget_is_evicted_before_others()
    {
        CairnCollection small = Store.Collection("small", new() { BudgetBytes = 100_000 });
        for (int i = 0; i < 30_000; i++)
        {
            Cache.Set($"used {i % 2000}", TestBytes.Of(500));
            small.Set($"{i}", TestBytes.Of(500));

            // Both entries were used, so both would survive without a budget.
            Cache.Get($"used {i % 2000}");
            small.Get($"{i}");
        }

        StoreStatistics statistics = Store.GetStatistics();
        CollectionStatistics ofSmall = Assert.Single(statistics.Collections);
        Assert.Equal(100_000, ofSmall.BudgetBytes);
        int kept = Enumerable.Range(0, 2000).Count(i => Cache.Contains($"used {i}"));
        Assert.True(kept > 1900, $"{kept} of 2000 used entries were kept");
    }

    [Fact]
    public void Collection_in_the_place_of_one_that_a_damaged_table_forgot_is_empty()
    {
        CairnStore first = Open(Options);
        first.Collection("one").Set("key", "first"u8);
        first.Collection("two").Set("key", "second"u8);
        first.Dispose();
        using (FileStream file = File.OpenWrite(FilePath))
        {
            file.Position = 384; // Superblock.CollectionCount
            file.WriteByte(1);
        }

        Assert.Equal("first", Store.Collection("one").GetString("key"));
        Assert.False(Store.Collection("three").Contains("key"));
        Assert.False(Store.Collection("two").Contains("key"));
    }
}
