using Cairn.Caching.Local;
using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Tests.Local;

public class LocalCacheTests
{
    private const long Plenty = 1_000_000;

    [Fact]
    public void Stored_entry_is_found_by_its_hash_and_key()
    {
        var cache = new LocalCache(Plenty, Plenty);

        LocalEntry entry = cache.Put("book:42");

        Assert.Same(entry, cache.Find("book:42"));
        Assert.Same(entry, cache.FindSurely(entry.Hash, "book:42"));
    }

    [Fact]
    public void A_key_that_was_not_set_is_not_found()
    {
        var cache = new LocalCache(Plenty, Plenty);
        LocalEntry entry = cache.Put("book:42");

        Assert.Null(cache.Find("book:43"));
        Assert.Null(cache.Find(entry.Hash, "book:43"));
        Assert.Null(cache.Find(entry.Hash + 1, "book:42"));
        Assert.Null(cache.FindSurely(entry.Hash, "book:43"));
    }

    [Fact]
    public void An_empty_key_is_a_key()
    {
        var cache = new LocalCache(Plenty, Plenty);

        LocalEntry entry = cache.Put("");

        Assert.Same(entry, cache.Find(""));
    }

    [Fact]
    public void Keys_with_the_same_hash_are_kept_apart()
    {
        var cache = new LocalCache(Plenty, Plenty);
        LocalEntry first = LocalEntries.WithHash("first", hash: 7);
        LocalEntry second = LocalEntries.WithHash("second", hash: 7);

        cache.Set(first);
        cache.Set(second);

        Assert.Same(first, cache.Find(7, "first"));
        Assert.Same(second, cache.Find(7, "second"));
    }

    [Fact]
    public void A_new_entry_takes_the_place_of_the_one_with_its_key()
    {
        var removed = new List<LocalEntry>();
        var cache = new LocalCache(Plenty, Plenty, removed.Add);
        LocalEntry old = cache.Put("book:42", bytes: 10);

        LocalEntry entry = cache.Put("book:42", bytes: 30);

        Assert.Same(entry, cache.Find("book:42"));
        Assert.Equal([old], removed);
        Assert.Equal(new LocalCacheStatistics(Entries: 1, Bytes: 30, Evictions: 0, TooLarge: 0), cache.GetStatistics());
    }

    [Fact]
    public void As_many_entries_as_allowed_are_kept_and_not_one_more()
    {
        var cache = new LocalCache(maxEntries: 3, Plenty);

        cache.Put("a");
        cache.Put("b");
        cache.Put("c");
        Assert.Equal(3, cache.GetStatistics().Entries);

        LocalEntry last = cache.Put("d");
        Assert.Equal(3, cache.GetStatistics().Entries);
        Assert.Equal(1, cache.GetStatistics().Evictions);
        Assert.Same(last, cache.Find("d"));
    }

    [Fact]
    public void As_many_bytes_as_allowed_are_kept_and_not_one_more()
    {
        var cache = new LocalCache(Plenty, maxBytes: 100, policy: QueuePolicy.Candidates[0]);

        cache.Put("a", bytes: 60);
        cache.Put("b", bytes: 40);
        Assert.Equal(100, cache.GetStatistics().Bytes);

        cache.Put("c", bytes: 1);
        Assert.Null(cache.Find("a"));
        Assert.Equal(41, cache.GetStatistics().Bytes);
    }

    [Fact]
    public void An_entry_as_large_as_the_level_has_it_for_itself()
    {
        var cache = new LocalCache(Plenty, maxBytes: 100);
        cache.Put("a", bytes: 60);

        LocalEntry large = cache.Put("b", bytes: 100);

        Assert.Null(cache.Find("a"));
        Assert.Same(large, cache.Find("b"));
    }

    [Fact]
    public void An_entry_larger_than_the_level_is_not_kept_but_ends_the_one_with_its_key()
    {
        var removed = new List<LocalEntry>();
        var cache = new LocalCache(Plenty, maxBytes: 100, removed.Add);
        LocalEntry other = cache.Put("a", bytes: 60);
        LocalEntry old = cache.Put("b", bytes: 40);

        LocalEntry large = cache.Put("b", bytes: 101);

        Assert.Null(cache.Find("b"));
        Assert.Same(other, cache.Find("a"));
        Assert.Equal(new LocalCacheStatistics(Entries: 1, Bytes: 60, Evictions: 0, TooLarge: 1), cache.GetStatistics());
        Assert.Equal(2, removed.Count);
        Assert.Contains(old, removed);
        Assert.Contains(large, removed);
    }

    [Fact]
    public void An_entry_that_grows_by_replacement_pushes_out_others_and_not_itself()
    {
        var cache = new LocalCache(Plenty, maxBytes: 100);
        cache.Put("a", bytes: 50);
        cache.Put("b", bytes: 50);

        LocalEntry grown = cache.Put("a", bytes: 90);

        Assert.Same(grown, cache.Find("a"));
        Assert.Null(cache.Find("b"));
        Assert.Equal(90, cache.GetStatistics().Bytes);
    }

    [Fact]
    public void An_entry_is_removed_by_its_key()
    {
        var removed = new List<LocalEntry>();
        var cache = new LocalCache(Plenty, Plenty, removed.Add);
        LocalEntry entry = cache.Put("book:42", bytes: 10);

        Assert.True(cache.Remove("book:42"));

        Assert.Null(cache.Find("book:42"));
        Assert.False(cache.Remove("book:42"));
        Assert.Equal([entry], removed);
        Assert.Equal(default, cache.GetStatistics());
    }

    [Fact]
    public void Removing_an_entry_spares_a_newer_one_with_its_key()
    {
        var cache = new LocalCache(Plenty, Plenty);
        LocalEntry old = cache.Put("book:42");
        LocalEntry entry = cache.Put("book:42");

        Assert.False(cache.Remove(old));
        Assert.Same(entry, cache.Find("book:42"));

        Assert.True(cache.Remove(entry));
        Assert.Null(cache.Find("book:42"));
        Assert.False(cache.Remove(entry));
    }

    [Fact]
    public void An_entry_that_was_never_set_cannot_be_removed()
    {
        var cache = new LocalCache(Plenty, Plenty);
        cache.Put("book:42");

        Assert.False(cache.Remove(LocalEntries.Of("book:42")));
        Assert.NotNull(cache.Find("book:42"));
    }

    [Fact]
    public void All_keys_of_a_hash_are_removed_and_their_neighbours_are_not()
    {
        var cache = new LocalCache(Plenty, Plenty);
        cache.Set(LocalEntries.WithHash("below", hash: 6));
        cache.Set(LocalEntries.WithHash("first", hash: 7));
        cache.Set(LocalEntries.WithHash("second", hash: 7));
        cache.Set(LocalEntries.WithHash("above", hash: 8));

        Assert.Equal(2, cache.RemoveHash(7));

        Assert.Null(cache.Find(7, "first"));
        Assert.Null(cache.Find(7, "second"));
        Assert.NotNull(cache.Find(6, "below"));
        Assert.NotNull(cache.Find(8, "above"));
        Assert.Equal(0, cache.RemoveHash(7));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(16)]
    [InlineData(63)]
    [InlineData(64)]
    public void Hashes_that_begin_with_the_same_bits_are_removed_together(int shift)
    {
        // 16 shards, so that ranges cover a part of one, exactly one, and many.
        var cache = new LocalCache(maxEntries: 65_536, Plenty);
        var random = new Random(shift);
        var entries = Enumerable.Range(0, 5000).Select(i => LocalEntries.WithHash($"key:{i}", (ulong)random.NextInt64(long.MinValue, long.MaxValue))).ToList();
        entries.ForEach(entry => cache.Set(entry));
        ulong value = shift == 64 ? 0 : entries[0].Hash >> shift;
        var expected = entries.Where(entry => shift == 64 || entry.Hash >> shift == value).ToList();

        int removed = cache.RemoveMany(shift, value);

        Assert.Equal(expected.Count, removed);
        Assert.All(entries, entry => Assert.Equal(expected.Contains(entry), cache.Find(entry.Hash, entry.Key) is null));
    }

    [Fact]
    public void The_lowest_and_the_highest_hash_of_a_range_belong_to_it()
    {
        var cache = new LocalCache(maxEntries: 65_536, Plenty);
        cache.Set(LocalEntries.WithHash("before", 0x7FFF_FFFF_FFFF_FFFF));
        cache.Set(LocalEntries.WithHash("lowest", 0x8000_0000_0000_0000));
        cache.Set(LocalEntries.WithHash("highest", 0xBFFF_FFFF_FFFF_FFFF));
        cache.Set(LocalEntries.WithHash("after", 0xC000_0000_0000_0000));

        Assert.Equal(2, cache.RemoveMany(62, 2));

        Assert.NotNull(cache.Find(0x7FFF_FFFF_FFFF_FFFF, "before"));
        Assert.NotNull(cache.Find(0xC000_0000_0000_0000, "after"));
    }

    [Theory]
    [InlineData(100)]
    [InlineData(65_536)]
    public void Entry_that_cannot_be_used_any_more_is_removed_on_request_at_exactly_its_time(int maxEntries)
    {
        var cache = new LocalCache(maxEntries, Plenty);
        var entries = Enumerable.Range(0, maxEntries * 3 / 4).Select(i => LocalEntries.Of($"key:{i}")).ToList();
        for (int i = 0; i < entries.Count; i++)
        {
            entries[i].UsableUntil = 1000 + i;
            cache.Set(entries[i]);
        }

        Assert.Equal(0, cache.RemoveUnusable(999));
        Assert.Equal(31, cache.RemoveUnusable(1030));

        Assert.Null(cache.Find("key:30"));
        Assert.NotNull(cache.Find("key:31"));
        Assert.Equal(entries.Count - 31, cache.RemoveUnusable(long.MaxValue));
    }

    [Fact]
    public void Entry_that_cannot_be_used_any_more_is_not_kept_although_it_was_popular()
    {
        var cache = new LocalCache(maxEntries: 10, Plenty);
        foreach (string key in new[] { "a", "b" })
        {
            LocalEntry entry = LocalEntries.Of(key);
            entry.UsableUntil = key == "a" ? 50 : 500;
            cache.Set(entry, now: 0);
            cache.Find(key);
            cache.Find(key);
        }

        for (int i = 0; i < 20; i++)
        {
            LocalEntry entry = LocalEntries.Of($"key:{i}");
            entry.UsableUntil = long.MaxValue;
            cache.Set(entry, now: 50);
        }

        Assert.Null(cache.Find("a"));
        Assert.NotNull(cache.Find("b"));
    }

    [Fact]
    public void Clear_leaves_nothing_and_reports_each()
    {
        var removed = new List<LocalEntry>();
        var cache = new LocalCache(maxEntries: 65_536, Plenty, removed.Add);
        var entries = Enumerable.Range(0, 1000).Select(i => cache.Put($"key:{i}")).ToList();

        cache.Clear();

        Assert.Equal(default, cache.GetStatistics());
        Assert.All(entries, entry => Assert.Null(cache.Find(entry.Key)));
        Assert.Equal(entries.ToHashSet(), removed.ToHashSet());
        Assert.Equal(entries.Count, removed.Count);
    }

    [Fact]
    public void It_can_be_filled_again_after_it_was_cleared()
    {
        var cache = new LocalCache(maxEntries: 100, Plenty);
        Fill();

        cache.Clear();
        Fill();

        Assert.Equal(100, cache.GetStatistics().Entries);
        Assert.NotNull(cache.Find("key:149"));

        void Fill()
        {
            for (int i = 0; i < 150; i++)
            {
                cache.Put($"key:{i}");
            }
        }
    }

    [Fact]
    public void Receiver_of_a_removal_can_change_the_level()
    {
        LocalCache? cache = null;
        cache = new LocalCache(maxEntries: 2, Plenty, entry =>
        {
            if (entry.Key == "a")
            {
                cache!.Remove("b");
            }
        });
        cache.Put("a");
        cache.Put("b");

        cache.Put("c");

        Assert.Null(cache.Find("b"));
        Assert.NotNull(cache.Find("c"));
    }

    [Fact]
    public void An_entry_is_set_once()
    {
        var cache = new LocalCache(Plenty, Plenty);
        LocalEntry entry = cache.Put("book:42");
        Assert.Throws<InvalidOperationException>(() => cache.Set(entry));

        cache.Remove(entry);
        Assert.Throws<InvalidOperationException>(() => cache.Set(entry));
        Assert.Null(cache.Find("book:42"));
    }

    [Fact]
    public void A_large_level_whose_entries_are_all_popular_evicts_one_all_the_same()
    {
        var cache = new LocalCache(maxEntries: 8000, Plenty);
        var entries = Enumerable.Range(0, 8000).Select(i => cache.Put($"key:{i}")).ToList();
        for (int use = 0; use < 3; use++)
        {
            entries.ForEach(entry => cache.Find(entry.Key));
        }

        LocalEntry last = cache.Put("last");

        Assert.Equal(8000, cache.GetStatistics().Entries);
        Assert.Same(last, cache.Find("last"));
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(1, 0)]
    [InlineData(-1, 1)]
    [InlineData(1, -1)]
    public void A_level_has_room_for_something(long maxEntries, long maxBytes) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new LocalCache(maxEntries, maxBytes));

    [Fact]
    public void A_level_without_bounds_keeps_everything()
    {
        var cache = new LocalCache(long.MaxValue, long.MaxValue);

        for (int i = 0; i < 10_000; i++)
        {
            cache.Put($"key:{i}", bytes: 1L << 40);
        }

        Assert.Equal(new LocalCacheStatistics(Entries: 10_000, Bytes: 10_000L << 40, Evictions: 0, TooLarge: 0), cache.GetStatistics());
    }

    [Fact]
    public void A_large_level_is_full_before_anything_is_evicted()
    {
        var cache = new LocalCache(maxEntries: 65_536, Plenty);

        for (int i = 0; i < 65_536; i++)
        {
            cache.Put($"key:{i}");
        }

        Assert.Equal(new LocalCacheStatistics(Entries: 65_536, Bytes: 65_536, Evictions: 0, TooLarge: 0), cache.GetStatistics());
    }

    [Fact]
    public void An_entry_larger_than_a_shard_is_kept_by_a_level_of_many_shards()
    {
        const long MaxBytes = 16 << 20;
        var cache = new LocalCache(maxEntries: 65_536, MaxBytes);
        for (int i = 0; i < 1024; i++)
        {
            cache.Put($"key:{i}", bytes: 16 << 10);
        }

        LocalEntry large = cache.Put("large", bytes: 12 << 20);

        Assert.Same(large, cache.Find("large"));
        Assert.InRange(cache.GetStatistics().Bytes, 12 << 20, MaxBytes);

        LocalEntry whole = cache.Put("whole", MaxBytes);

        Assert.Same(whole, cache.Find("whole"));
        Assert.Equal(1, cache.GetStatistics().Entries);
    }

    [Fact]
    public void A_hit_allocates_nothing()
    {
        var cache = new LocalCache(Plenty, Plenty);
        LocalEntry entry = cache.Put("book:42");
        Find();

        long before = GC.GetAllocatedBytesForCurrentThread();
        Find();
        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());

        void Find()
        {
            for (int i = 0; i < 100; i++)
            {
                Assert.True(cache.Find(entry.Hash, "book:42") is not null);
            }
        }
    }

    [Fact]
    public void Setting_and_evicting_allocate_nothing_beside_the_entry_once_the_level_is_full()
    {
        var cache = new LocalCache(maxEntries: 100, Plenty);
        var entries = Enumerable.Range(0, 2000).Select(i => LocalEntries.Of($"key:{i}")).ToList();
        for (int i = 0; i < 1000; i++)
        {
            cache.Set(entries[i]);
        }

        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 1000; i < 2000; i++)
        {
            cache.Set(entries[i]);
        }

        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
    }
}
