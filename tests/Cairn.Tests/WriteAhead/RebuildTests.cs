using Cairn.Platform;

namespace Cairn.Tests.WriteAhead;

/// <summary>After a restart of the machine, the store rebuilds logged collections from snapshot and log. Everything else is empty.</summary>
public sealed class RebuildTests : LoggedStoreTest
{
    // The next piece has its name, and the error comes before its first record. It is no proof of writes that the file lacks.
    [Fact]
    public void Piece_that_was_created_and_not_used_costs_no_entry_of_the_file()
    {
        var platform = new FaultyPlatform();
        StoreOptions options = Small with { FlushOnClose = true };
        using (CairnStore store = platform.OpenStore(options))
        {
            CairnCollection logged = store.Collection("logged", Logged);
            logged.Set("book", "Dune"u8);
            store.DefaultCollection.Set("cached", "Emma"u8);
            platform.OnFlushDirectory = () => throw FaultyPlatform.Failed("Flushing the directory");

            Assert.Throws<StoreException>(() => Enumerable.Range(0, 10_000).All(i => logged.Set($"{i % 100}", TestBytes.Of(1_000))));

            Assert.Equal(2, LogNames.Count());
        }

        using CairnStore again = Open(options);
        Assert.Empty(again.Warnings);
        Assert.Equal(("Dune", "Emma"), (TextOf(again.Collection("logged"), "book"), TextOf(again.DefaultCollection, "cached")));
        Assert.True(Enumerable.Range(0, 1_000).All(i => again.Collection("logged").Set($"{i % 100}", TestBytes.Of(1_000))));
    }

    [Fact]
    public void Logged_entries_come_back_after_a_restart_and_others_do_not()
    {
        CairnStore store = Open(Small);
        store.DefaultCollection.Set("cached", "x"u8);
        store.Collection("cache").Set("cached", "x"u8);
        store.Collection("unlogged", Logged with { Durability = Durability.ProcessCrash }).Set("kept", "x"u8);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Dispose();

        CairnStore after = OpenAfterRestart(Small);

        Assert.Equal("Dune", TextOf(after.Collection("books"), "42"));
        Assert.Equal(["books"], after.CollectionNames.Where(name => name.Length > 0));
        Assert.Null(after.DefaultCollection.Get("cached"));
        Assert.Contains("collections with a log were rebuilt from it", Assert.Single(after.Warnings), StringComparison.Ordinal);
    }

    [Fact]
    public void Values_keep_their_flags_and_deadlines_and_sliding_ones_count_from_the_restart()
    {
        CairnStore store = Open(Small);
        CairnCollection books = store.Collection("books", Logged);
        books.Set("flags", "x"u8, flags: 77);
        books.Set("hour", "x"u8, Expiration.After(TimeSpan.FromHours(1)));
        books.Set("sliding", "x"u8, Expiration.Sliding(TimeSpan.FromMinutes(10)));
        books.Set("minute", "x"u8, Expiration.After(TimeSpan.FromMinutes(1)));
        Clock.Advance(TimeSpan.FromMinutes(30));
        store.Dispose();

        books = OpenAfterRestart(Small).Collection("books");

        Assert.True(books.TryGetInfo("flags", out EntryInfo info));
        Assert.Equal(77u, info.Flags);
        Assert.Null(books.Get("minute"));
        Assert.NotNull(books.Get("sliding"));
        Clock.Advance(TimeSpan.FromMinutes(31));
        Assert.Null(books.Get("hour"));
        Assert.Null(books.Get("sliding"));
    }

    [Fact]
    public void Collection_keeps_its_options_after_a_restart()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged with { BudgetBytes = 1000, DefaultExpiration = Expiration.After(TimeSpan.FromHours(1)) }).Set("42", "Dune"u8);
        store.Dispose();

        CairnStore after = OpenAfterRestart(Small);

        Assert.Throws<StoreException>(() => after.Collection("books", new CollectionOptions()));
        CairnCollection books = after.Collection("books");
        Assert.Throws<StoreFullException>(() => books.Set("43", new byte[2000]));
        Clock.Advance(TimeSpan.FromHours(2));
        Assert.Null(books.Get("42"));
    }

    [Fact]
    public void Removed_replaced_and_cleared_entries_stay_so_over_many_restarts_and_files()
    {
        var expected = new Dictionary<string, int>(StringComparer.Ordinal);
        var random = new Random(17);
        CairnStore store = Open(Small);
        for (int life = 0; life < 6; life++)
        {
            CairnCollection books = store.Collection("books", Logged with { Durability = Durability.GroupCommit });
            for (int i = 0; i < 300; i++)
            {
                string key = $"{random.Next(40)}";
                if (random.Next(3) == 0)
                {
                    Assert.Equal(expected.Remove(key), books.Remove(key));
                }
                else
                {
                    expected[key] = random.Next(2000);
                    Assert.True(books.Set(key, TestBytes.Of(expected[key])));
                }

                if (random.Next(200) == 0)
                {
                    expected.Clear();
                    Assert.True(books.Clear());
                }

                if (random.Next(150) == 0)
                {
                    store.Checkpoint();
                }
            }

            store.Dispose();
            store = OpenAfterRestart(Small);
            books = store.Collection("books");
            Assert.Equal(expected.Count, store.GetStatistics().Collections.Single(c => c.Name == "books").Entries);
            Assert.All(expected, pair => Assert.Equal(TestBytes.Of(pair.Value), books.Get(pair.Key)));
            StoreAudit.Check(store);
        }
    }

    [Fact]
    public void Versions_after_a_restart_are_above_all_earlier_ones_even_if_the_clock_went_back()
    {
        CairnStore store = Open(Small);
        CairnCollection books = store.Collection("books", Logged);
        books.Set("42", "Dune"u8);
        Assert.True(books.TryGetInfo("42", out EntryInfo before));
        store.Dispose();
        Clock.Advance(TimeSpan.FromDays(-400));

        books = OpenAfterRestart(Small).Collection("books");

        Assert.True(books.TryGetInfo("42", out EntryInfo after));
        Assert.True(after.Version > before.Version);
    }

    [Fact]
    public void Long_values_come_back_after_a_restart()
    {
        CairnStore store = Open(Options);
        byte[] value = TestBytes.Of(900_000);
        store.Collection("books", Logged).Set("long", value);
        store.Checkpoint();
        store.Collection("books").Set("longer", value);
        store.Dispose();

        CairnCollection books = OpenAfterRestart(Options).Collection("books");

        Assert.Equal(value, books.Get("long"));
        Assert.Equal(value, books.Get("longer"));
    }

    [Fact]
    public void File_that_grew_and_is_short_again_after_a_restart_is_rebuilt()
    {
        StoreOptions options = Small with { MaxCapacityBytes = 8L << 20 };
        CairnStore store = Open(options);
        long length = new FileInfo(FilePath).Length;
        CairnCollection books = store.Collection("books", Logged);
        for (int i = 0; i < 300; i++)
        {
            books.Set($"{i}", TestBytes.Of(10_000, i));
        }

        store.Dispose();
        Assert.True(new FileInfo(FilePath).Length > length);
        using (FileStream file = File.OpenWrite(FilePath))
        {
            file.SetLength(length);
        }

        Assert.Throws<StoreCorruptException>(() => CairnStore.Open(options));
        books = OpenAfterRestart(options).Collection("books");

        Assert.All(Enumerable.Range(0, 300), i => Assert.Equal(TestBytes.Of(10_000, i), books.Get($"{i}")));
    }

    [Fact]
    public void Store_without_room_for_its_log_is_left_alone_and_built_larger_when_that_is_asked_for()
    {
        LeaveSmallStoreWithLargeLog();
        byte[][] before = [.. LogNames.Select(name => File.ReadAllBytes(PathOf(name))), File.ReadAllBytes(SnapshotPath)];

        for (int i = 0; i < 2; i++)
        {
            var full = Assert.Throws<StoreFullException>(() => OpenAfterRestart(Small));
            Assert.Contains(nameof(StoreOptions.MaxCapacityBytes), full.Message, StringComparison.Ordinal);
            Assert.Equal(before, [.. LogNames.Select(name => File.ReadAllBytes(PathOf(name))), File.ReadAllBytes(SnapshotPath)]);
        }

        CairnStore store = OpenAfterRestart(Small with { MaxCapacityBytes = 16L << 20 });

        Assert.NotEmpty(store.Warnings);
        Assert.Equal(16L << 20, store.GetStatistics().MaxCapacityBytes);
        Assert.All(Enumerable.Range(0, 300), i => Assert.Equal(TestBytes.Of(10_000, i), store.Collection("books").Get($"{i}")));
        Assert.Equal("Emma", TextOf(store.Collection("books"), "last"));
        StoreAudit.Check(store);
    }

    [Fact]
    public void Leftovers_of_the_first_attempt_may_be_collected_while_the_store_is_built_larger()
    {
        LeaveSmallStoreWithLargeLog();
        var platform = new FaultyPlatform
        {
            OnCreate = () =>
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            },
        };

        StorePlatform.BootIdOverride = Guid.NewGuid().ToString();
        using CairnStore store = platform.OpenStore(Small with { MaxCapacityBytes = 16L << 20 });
        StorePlatform.BootIdOverride = null;

        Assert.Equal(16L << 20, store.GetStatistics().MaxCapacityBytes);
        Assert.Equal("Emma", TextOf(store.Collection("books"), "last"));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Store_that_is_full_of_kept_entries_is_rebuilt(int seed)
    {
        var random = new Random(seed);
        CairnStore store = Open(Small);
        CairnCollection books = store.Collection("books", Logged);
        var expected = new Dictionary<string, int>(StringComparer.Ordinal);
        int refusals = 0;
        for (int i = 0; refusals < 200; i++)
        {
            string key = $"{random.Next(2_000)}";
            try
            {
                int bytes = random.Next(50, 3_000);
                Assert.True(books.Set(key, TestBytes.Of(bytes)));
                expected[key] = bytes;
            }
            catch (StoreFullException)
            {
                refusals++;
            }
        }

        store.Dispose();
        try
        {
            store = OpenAfterRestart(Small);
        }
        catch (StoreFullException)
        {
            // The order and distribution differ, so the entries may need slightly more room.
            store = OpenAfterRestart(Small with { MaxCapacityBytes = 3L << 20 });
        }

        Assert.All(expected, pair => Assert.Equal(TestBytes.Of(pair.Value), store.Collection("books").Get(pair.Key)));
    }

    [Fact]
    public void Store_that_lost_its_file_is_not_replaced_by_an_empty_one()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Dispose();
        File.Delete(FilePath);

        StoreException refused = Assert.Throws<StoreException>(() => Open(Small));

        Assert.Contains(LogNames.Single(), refused.Message, StringComparison.Ordinal);
        Assert.False(File.Exists(FilePath));
    }

    [Fact]
    public void Log_of_another_store_is_refused()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Dispose();
        StoreOptions other = Small with { Path = PathOf("other.cairn") };
        CairnStore second = Open(other);
        second.Collection("books", Logged).Set("42", "Emma"u8);
        second.Dispose();
        File.Copy(PathOf("other.cairn.log-0000000001"), FilePath + ".log-0000000001", overwrite: true);

        StoreException refused = Assert.Throws<StoreException>(() => OpenAfterRestart(Small));

        Assert.Contains("another store", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Missing_log_is_an_error_when_only_the_log_has_the_entries()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Dispose();
        File.Delete(FilePath + ".log-0000000001");

        StoreException refused = Assert.Throws<StoreCorruptException>(() => OpenAfterRestart(Small));

        Assert.Contains("is missing", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Missing_log_is_created_again_while_the_map_has_everything()
    {
        CairnStore store = Open(Small with { FlushOnClose = true });
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Dispose();
        File.Delete(FilePath + ".log-0000000001");

        CairnStore second = Open(Small);
        Assert.Equal("Dune", TextOf(second.Collection("books"), "42"));
        second.Collection("books").Set("43", "Emma"u8);
        second.Dispose();
        CairnStore third = OpenAfterRestart(Small);

        Assert.Equal("Dune", TextOf(third.Collection("books"), "42"));
        Assert.Equal("Emma", TextOf(third.Collection("books"), "43"));
    }

    [Fact]
    public void Log_replaces_an_old_copy_of_the_file_that_was_put_back()
    {
        StoreOptions options = Small with { FlushOnClose = true };
        CairnStore store = Open(options);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        store.Dispose();
        File.Copy(FilePath, PathOf("copy"));
        store = Open(options);
        store.Collection("books").Set("42", "Emma"u8);
        store.Dispose();
        File.Copy(PathOf("copy"), FilePath, overwrite: true);

        CairnStore after = Open(options);

        Assert.Equal("Emma", TextOf(after.Collection("books"), "42"));
        Assert.Contains("older than its log", Assert.Single(after.Warnings), StringComparison.Ordinal);
    }

    [Fact]
    public void Damage_in_any_piece_of_the_log_is_an_error()
    {
        CairnStore store = Open(Small);
        CairnCollection books = store.Collection("books", Logged);
        for (int i = 0; i < 200; i++)
        {
            books.Set($"{i}", TestBytes.Of(500, i));
        }

        store.Dispose();
        Assert.True(LogNames.Count() > 1);
        Flip(FilePath + ".log-0000000001", 6000);

        StoreCorruptException refused = Assert.Throws<StoreCorruptException>(() => OpenAfterRestart(Small));

        Assert.Contains(".log-0000000001", refused.Message, StringComparison.Ordinal);
        Flip(FilePath + ".log-0000000001", 6000);
        Flip(FilePath + ".log-0000000002", 6000);
        refused = Assert.Throws<StoreCorruptException>(() => OpenAfterRestart(Small));

        Assert.Contains(".log-0000000002", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Snapshot_that_is_damaged_anywhere_is_an_error_or_gives_what_it_should()
    {
        int refusals = 0;
        CairnStore store = Open(Small);
        store.Collection("books", Logged).Set("42", TestBytes.Of(100));
        store.Checkpoint();
        store.Dispose();
        byte[] whole = File.ReadAllBytes(SnapshotPath);
        for (int at = 0; at < whole.Length; at += at < 4096 ? 37 : 5)
        {
            Flip(SnapshotPath, at);
            try
            {
                using CairnStore damaged = OpenAfterRestart(Small);
                Assert.Equal(TestBytes.Of(100), damaged.Collection("books").Get("42"));
            }
            catch (StoreException)
            {
                refusals++;
            }

            Flip(SnapshotPath, at);
        }

        Assert.InRange(refusals, 190, 250);

        File.WriteAllBytes(SnapshotPath, whole[..^8]);
        Assert.Throws<StoreCorruptException>(() => OpenAfterRestart(Small));
        File.WriteAllBytes(SnapshotPath, whole);
        Assert.NotNull(OpenAfterRestart(Small).Collection("books").Get("42"));
    }

    [Fact]
    public void Store_opened_through_a_link_has_the_log_of_its_file()
    {
        CairnStore store = Open(Small);
        store.Collection("books", Logged).Set("42", "Dune"u8);
        File.CreateSymbolicLink(PathOf("link.cairn"), FilePath);
        CairnStore linked = Open(Small with { Path = PathOf("link.cairn") });

        linked.Collection("books").Set("43", "Emma"u8);

        linked.Dispose();
        store.Dispose();
        Assert.Single(LogNames);
        Assert.Equal("Emma", TextOf(OpenAfterRestart(Small).Collection("books"), "43"));
    }

    private static void Flip(string path, long at)
    {
        using FileStream file = File.Open(path, FileMode.Open);
        file.Position = at;
        int value = file.ReadByte();
        file.Position = at;
        file.WriteByte((byte)(value ^ 0x10));
    }

    private void LeaveSmallStoreWithLargeLog()
    {
        CairnStore store = Open(Small with { CapacityBytes = 8L << 20 });
        CairnCollection books = store.Collection("books", Logged);
        for (int i = 0; i < 300; i++)
        {
            books.Set($"{i}", TestBytes.Of(10_000, i));
        }

        store.Checkpoint();
        books.Set("last", "Emma"u8);
        store.Dispose();
        CairnStore.Open(Small with { Path = PathOf("small.cairn") }).Dispose();
        File.Move(PathOf("small.cairn"), FilePath, overwrite: true);
    }
}
