using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Cairn.Platform;
using Cairn.Storage;
using Cairn.Tests.Platform;
using Cairn.Tests.Storage;
using Cairn.Tests.WriteAhead;

namespace Cairn.Tests.Offline;

/// <summary>Compacting keeps everything that can be read, and keeps the old file until the new one is complete.</summary>
public sealed class CompactTests : StoreTest
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Exactly_what_is_readable_is_kept(int seed)
    {
        new RandomWork(Store, Clock, seed).Do(15_000);
        Store.Collection("books", new CollectionOptions { DefaultExpiration = TimeSpan.FromMinutes(7), BudgetBytes = 1_000_000 });
        List<Kept> before = Read(Store);
        Store.Dispose();

        CompactReport report = Compact();

        VerifyReport verified = StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock });
        CairnStore after = OpenAgain();
        Assert.Equal(before, Read(after));
        Assert.Equal((before.Count, 0, 0), (report.EntriesKept, report.EntriesDamaged, report.EntriesEvicted));
        Assert.Equal(before.Count, after.GetStatistics().Totals.Entries);
        Assert.True(verified.IsSound);
        Assert.Empty(verified.Findings);
        Assert.Equal((before.Count, 0, 0), (verified.Entries, verified.DeadEntries, verified.ExpiredEntries));

        // The collection's options were copied too.
        after.Collection("books").Set("new", "value"u8);
        after.Collection("books").TryGetInfo("new", out EntryInfo info);
        Assert.Equal(Clock.Now + TimeSpan.FromMinutes(7), info.ExpiresAt);
        Assert.Equal(1_000_000, after.GetStatistics().Collections.Single(collection => collection.Name == "books").BudgetBytes);
    }

    [Fact]
    public void Marks_and_versions_that_clients_chose_are_kept()
    {
        MarkedEntry.Write(Store, "key");
        Store.Dispose();

        Compact();

        MarkedEntry.AssertIsIn(OpenAgain(), "key");
    }

    [Fact]
    public void Space_goes_back_to_the_disk_and_the_store_may_grow_to_what_it_was()
    {
        CairnStore store = Open(Options with { CapacityBytes = 64 << 20 });
        for (int i = 0; i < 40_000; i++)
        {
            store.DefaultCollection.Set($"key:{i}", TestBytes.Of(1_000));
        }

        for (int i = 0; i < 40_000; i++)
        {
            if (i % 10 != 0)
            {
                store.DefaultCollection.Remove($"key:{i}");
            }
        }

        store.Dispose();

        CompactReport report = Compact();

        Assert.Equal(4_000, report.EntriesKept);
        Assert.Equal(new FileInfo(FilePath).Length, report.BytesAfter);
        Assert.InRange(report.BytesAfter, 4_000_000, 24 << 20);
        Assert.InRange(report.BytesBefore, 60 << 20, 64 << 20);
        Assert.Equal(64 << 20, report.MaxCapacityBytes);
        Assert.InRange(report.AverageEntryBytes, 1_000, 1_100);
        CairnStore after = OpenAgain();
        for (int i = 0; i < 40_000; i++)
        {
            after.DefaultCollection.Set($"key:{i}", TestBytes.Of(1_000));
        }

        Assert.Equal(40_000, after.GetStatistics().Totals.Entries);
    }

    [Fact]
    public void Size_is_the_one_that_was_asked_for()
    {
        new RandomWork(Store, Clock, 4).Do(3_000);
        Store.Dispose();

        CompactReport report = StoreMaintenance.Compact(
            FilePath, new CompactOptions { CapacityBytes = 20 << 20, MaxCapacityBytes = 40 << 20, AverageEntryBytes = 1_000, TimeProvider = Clock });

        Assert.Equal((40L << 20, 1_000), (report.MaxCapacityBytes, report.AverageEntryBytes));
        Assert.InRange(report.BytesAfter, 19 << 20, 20 << 20);
        Assert.Equal(40 << 20, OpenAgain().GetStatistics().MaxCapacityBytes);
    }

    [Fact]
    public void Entries_that_do_not_fit_a_smaller_store_are_evicted_and_counted()
    {
        for (int i = 0; i < 4_000; i++)
        {
            Cache.Set($"key:{i}", TestBytes.Of(1_000));
        }

        Cache.Set("long", TestBytes.Of(500_000));
        long entries = Store.GetStatistics().Totals.Entries;
        Store.Dispose();

        CompactReport report = StoreMaintenance.Compact(FilePath, new CompactOptions { MaxCapacityBytes = 2 << 20, TimeProvider = Clock });

        Assert.Equal(entries, report.EntriesKept + report.EntriesEvicted);
        Assert.InRange(report.EntriesKept, 600, 2_000);
        Assert.InRange(report.BytesAfter, 1 << 20, 2 << 20);
        CairnStore after = OpenAgain();
        Assert.Equal(report.EntriesKept, after.GetStatistics().Totals.Entries);
        Assert.False(after.DefaultCollection.Contains("long"));
    }

    [Fact]
    public void Entries_that_were_used_outlive_others_after_compacting_too()
    {
        CairnStore store = Open(Options with { CapacityBytes = 2 << 20 });
        CairnCollection cache = store.DefaultCollection;
        for (int i = 0; i < 1_000; i++)
        {
            cache.Set($"{(i % 4 == 0 ? "used" : "idle")}:{i}", TestBytes.Of(500));
        }

        for (int i = 0; i < 1_000; i += 4)
        {
            cache.Get($"used:{i}");
            cache.Get($"used:{i}");
        }

        store.Dispose();

        CompactReport report = StoreMaintenance.Compact(FilePath, new CompactOptions { CapacityBytes = 2 << 20, TimeProvider = Clock });

        Assert.Equal(1_000, report.EntriesKept);
        CairnStore after = OpenAgain();
        for (int i = 0; i < 2_500; i++)
        {
            after.DefaultCollection.Set($"new:{i}", TestBytes.Of(500));
        }

        int used = Enumerable.Range(0, 1_000).Count(i => after.DefaultCollection.Contains($"used:{i}"));
        int idle = Enumerable.Range(0, 1_000).Count(i => after.DefaultCollection.Contains($"idle:{i}"));
        Assert.True(used > 200, $"{used} of 250 entries that were used are left, and {idle} of 750 idle ones.");
        Assert.True(idle < 200, $"{used} of 250 entries that were used are left, and {idle} of 750 idle ones.");
    }

    [Fact]
    public void Expired_entries_and_leases_are_left_out()
    {
        Cache.Set("stays", "value"u8, TimeSpan.FromHours(1));
        Cache.Set("expires", "value"u8, TimeSpan.FromMinutes(1));
        Cache.Set("slides", "value"u8, Expiration.Sliding(TimeSpan.FromHours(1), Clock.Now + TimeSpan.FromHours(3)));
        Cache.AcquireLease("leased", TimeSpan.Zero, out _);
        Clock.Advance(TimeSpan.FromMinutes(30));
        Store.Dispose();

        CompactReport report = Compact();

        Assert.Equal((2, 1), (report.EntriesKept, report.EntriesExpired));
        CairnStore after = OpenAgain();
        CairnCollection cache = after.DefaultCollection;
        Assert.False(cache.TryGetStale("expires", new byte[10], out _));
        Assert.Equal(LeaseStatus.Acquired, cache.AcquireLease("leased", TimeSpan.Zero, out _));

        // The deadline is the one that the last read had set. Compacting did not change it.
        Clock.Advance(TimeSpan.FromMinutes(29));
        Assert.True(cache.TryGetInfo("slides", out EntryInfo info));
        Assert.Equal(TimeSpan.FromHours(1), info.SlidingInterval);
        Clock.Advance(TimeSpan.FromMinutes(1));
        Assert.False(cache.Contains("slides"));
        Assert.False(cache.Contains("stays"));
    }

    [Fact]
    public void Damaged_entries_are_left_out_and_counted()
    {
        for (int i = 0; i < 1_000; i++)
        {
            Cache.Set($"key:{i}", TestBytes.Of(100, i));
        }

        Store.Dispose();
        using (var surgeon = new StoreSurgeon(FilePath))
        {
            long[] slots = [.. surgeon.UsedSlots()];
            surgeon.Flip(surgeon.EntryOf(slots[0]) + 40, 1);
            surgeon.Flip(surgeon.EntryOf(slots[1]) + 7, 6);
            surgeon.Flip(slots[2] + 5, 3);
        }

        CompactReport report = Compact();

        Assert.Equal((997, 3), (report.EntriesKept, report.EntriesDamaged));
        Assert.True(StoreMaintenance.Verify(FilePath).IsSound);
        CairnStore after = OpenAgain();
        Assert.All(Enumerable.Range(0, 1_000), i => Assert.True(after.DefaultCollection.Get($"key:{i}") is not { } value || value.SequenceEqual(TestBytes.Of(100, i))));
    }

    [Fact]
    public void Damaged_collections_come_out_with_possible_names_and_options()
    {
        foreach (string name in (string[])["first", "second", "third"])
        {
            Store.Collection(name, new CollectionOptions { DefaultExpiration = TimeSpan.FromHours(1) }).Set(name, "value"u8);
        }

        Store.Dispose();
        using (var surgeon = new StoreSurgeon(FilePath))
        {
            long first = surgeon.Layout.CollectionsOffset + 256;
            surgeon.Write(first + 64, [0xFF, 0xFE]);
            surgeon.Write(first + 2, [77]);
            surgeon.Write(first + 16, [.. Enumerable.Repeat((byte)0xFF, 8)]);
            surgeon.Write(first + 512, surgeon.Read(first + 256, 256));
        }

        Assert.Equal(3, Compact().EntriesKept);

        Assert.True(StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock }).IsSound);
        CairnStore after = OpenAgain();
        Assert.Equal(["damaged collection 1", "second", "damaged collection 3"], after.CollectionNames);
        Assert.Equal("value", after.Collection("second").GetString("second"));
        Assert.Equal("value", after.Collection("damaged collection 3").GetString("third"));
        Assert.Equal(0, after.GetStatistics().Collections[0].BudgetBytes);
    }

    [Fact]
    public void Versions_that_were_read_before_are_old_afterwards()
    {
        Cache.Set("key", "1"u8);
        Cache.TryGetInfo("key", out EntryInfo before);
        Store.Dispose();

        Compact();

        CairnStore after = OpenAgain();
        after.DefaultCollection.TryGetInfo("key", out EntryInfo info);
        Assert.True(info.Version > before.Version);
        Assert.Equal(WriteStatus.VersionMismatch, after.DefaultCollection.CompareAndSwap("key", "2"u8, before.Version));
    }

    [Fact]
    public void Statistics_begin_at_zero()
    {
        new RandomWork(Store, Clock, 5).Do(2_000);
        Store.Dispose();

        Compact();

        StoreStatistics statistics = OpenAgain().GetStatistics();
        Assert.Equal((0, 0, 0, 0), (statistics.Totals.Hits, statistics.Totals.Sets, statistics.Totals.Evictions, statistics.Totals.Expirations));
    }

    [Fact]
    public void Store_that_is_open_is_not_compacted()
    {
        Cache.Set("key", "value"u8);

        StoreException refusal = Assert.Throws<StoreException>(Compact);

        Assert.Contains("while it is open (openings: 1)", refusal.Message, StringComparison.Ordinal);
        Assert.Equal("value", Cache.GetString("key"));
    }

    [Fact]
    public async Task Process_that_opens_the_store_meanwhile_gets_the_new_one()
    {
        Cache.Set("key", "value"u8);
        Cache.Set("expired", "value"u8, TimeSpan.FromSeconds(1));
        Store.Dispose();
        Clock.Advance(TimeSpan.FromSeconds(2));
        using var start = new ManualResetEventSlim();
        Task<CairnStore> opening = OwnThread.Run(() =>
        {
            start.Wait();
            return OpenAgain();
        });

        CompactReport report = StoreMaintenance.Compact(
            FilePath, new CompactOptions { TimeProvider = Clock }, new ActionProgress(_ => start.Set()));

        CairnStore opened = await opening;
        Assert.Equal("value", opened.DefaultCollection.GetString("key"));
        Assert.Equal(1, opened.GetStatistics().Totals.Entries);
        Assert.Equal(report.BytesAfter, opened.GetStatistics().FileBytes);
    }

    [Fact]
    public void Cancelled_work_leaves_the_old_file_as_it_was()
    {
        FillAndClose();
        byte[] before = Hash();
        using var cancellation = new CancellationTokenSource();

        Assert.Throws<OperationCanceledException>(() => StoreMaintenance.Compact(
            FilePath, new CompactOptions { TimeProvider = Clock }, new ActionProgress(_ => cancellation.Cancel()), cancellation.Token));

        AssertUntouched(before);
    }

    [Fact]
    public void Failure_in_the_last_step_leaves_the_old_file_as_it_was()
    {
        FillAndClose();
        byte[] before = Hash();
        var progress = new ActionProgress(told => throw new InvalidOperationException(told.What));

        Assert.Throws<InvalidOperationException>(() => StoreMaintenance.Compact(FilePath, new CompactOptions { TimeProvider = Clock }, progress));

        AssertUntouched(before);
    }

    [RequiresMountFact]
    public void Disk_that_has_no_room_for_the_new_file_is_an_error_and_the_old_file_stays()
    {
        FillAndClose();
        using var mount = TestMount.Tmpfs(12 << 20);
        File.Copy(FilePath, mount["store"]);
        byte[] before = Hash(mount["store"]);

        StoreException full = Assert.Throws<StoreException>(
            () => StoreMaintenance.Compact(mount["store"], new CompactOptions { CapacityBytes = 8 << 20, TimeProvider = Clock }));

        Assert.Contains("is full", full.Message, StringComparison.Ordinal);
        Assert.Equal(before, Hash(mount["store"]));
        Assert.Equal(["store"], Directory.GetFiles(mount.Path).Select(Path.GetFileName));
    }

    [RequiresMountFact]
    public void Disk_that_fills_up_while_entries_are_copied_is_an_error_and_the_old_file_stays()
    {
        FillAndClose();
        using var mount = TestMount.Tmpfs(12 << 20);
        File.Copy(FilePath, mount["store"]);
        using (var surgeon = new StoreSurgeon(mount["store"]))
        {
            // The counters are too low: the new file starts too small and has to grow.
            for (int number = 0; number < surgeon.Layout.PartitionCount; number++)
            {
                surgeon.WriteUInt64(surgeon.Partition(number, (int)Marshal.OffsetOf<PartitionBlock>(nameof(PartitionBlock.LiveBytes))), 0);
            }
        }

        byte[] before = Hash(mount["store"]);

        StoreException full = Assert.Throws<StoreException>(() => StoreMaintenance.Compact(mount["store"], new CompactOptions { TimeProvider = Clock }));

        Assert.Contains("stays as it was", full.Message, StringComparison.Ordinal);
        Assert.Equal(before, Hash(mount["store"]));
    }

    [Fact]
    public void Store_of_a_machine_that_restarted_is_refused_because_nothing_in_it_can_be_trusted()
    {
        FillAndClose();
        byte[] before = Hash();
        StorePlatform.BootIdOverride = "11111111-2222-3333-4444-555555555555";

        StoreException refusal = Assert.Throws<StoreException>(Compact);

        StorePlatform.BootIdOverride = null;
        Assert.Contains("restarted", refusal.Message, StringComparison.Ordinal);
        AssertUntouched(before);
    }

    [Fact]
    public void Name_of_the_new_file_is_on_the_disk_when_the_work_returns()
    {
        FillAndClose();
        long flushedBytes = 0;
        var platform = new FaultyPlatform { OnFlushDirectory = () => flushedBytes = new FileInfo(FilePath).Length };

        CompactReport report = platform.On(Compact);

        Assert.NotEqual(report.BytesBefore, report.BytesAfter);
        Assert.Equal(report.BytesAfter, flushedBytes);
    }

    [Fact]
    public void Symbolic_link_stays_one()
    {
        FillAndClose();
        Directory.CreateDirectory(PathOf("elsewhere"));
        File.CreateSymbolicLink(PathOf("elsewhere/link"), FilePath);

        StoreMaintenance.Compact(PathOf("elsewhere/link"), new CompactOptions { TimeProvider = Clock });

        Assert.NotNull(new FileInfo(PathOf("elsewhere/link")).LinkTarget);
        Assert.True(StoreMaintenance.Verify(FilePath).IsSound);
        Assert.Equal(new FileInfo(FilePath).Length, StoreMaintenance.Verify(PathOf("elsewhere/link")).FileBytes);
    }

    [Fact]
    public void File_that_is_no_store_is_refused()
    {
        File.WriteAllText(FilePath, "not a store");

        Assert.Throws<StoreCorruptException>(Compact);
        Assert.Throws<FileNotFoundException>(() => StoreMaintenance.Compact(PathOf("missing")));
        Assert.Throws<FileNotFoundException>(() => StoreMaintenance.Compact("a missing store with a relative path"));
    }

    [Theory]
    [InlineData(1L, null, null)]
    [InlineData(null, 1L, null)]
    [InlineData(8L << 20, 4L << 20, null)]
    [InlineData(null, null, 31)]
    public void Options_outside_their_ranges_are_refused(long? capacityBytes, long? maxCapacityBytes, int? averageEntryBytes)
    {
        FillAndClose();
        var options = new CompactOptions
        {
            CapacityBytes = capacityBytes,
            MaxCapacityBytes = maxCapacityBytes,
            AverageEntryBytes = averageEntryBytes,
        };

        Assert.Throws<ArgumentOutOfRangeException>(() => StoreMaintenance.Compact(FilePath, options));
    }

    [Fact]
    public void Capacity_too_small_for_the_index_is_refused_with_what_it_takes()
    {
        FillAndClose();

        ArgumentOutOfRangeException refusal = Assert.Throws<ArgumentOutOfRangeException>(
            () => StoreMaintenance.Compact(FilePath, new CompactOptions { CapacityBytes = 1 << 20, MaxCapacityBytes = 1L << 30 }));

        Assert.Contains("must be at least", refusal.Message, StringComparison.Ordinal);
    }

    private static List<Kept> Read(CairnStore store)
    {
        IEnumerable<CairnCollection> collections = store.CollectionNames.Select(name => store.Collection(name)).Prepend(store.DefaultCollection);
        return
        [
            .. collections
                .SelectMany(collection => collection.Entries().Select(entry => Kept.Of(collection, entry)))
                .OrderBy(kept => kept.Collection, StringComparer.Ordinal)
                .ThenBy(kept => kept.Key, StringComparer.Ordinal),
        ];
    }

    private static byte[] Hash(string path) => SHA256.HashData(File.ReadAllBytes(path));

    private byte[] Hash() => Hash(FilePath);

    private void AssertUntouched(byte[] before)
    {
        Assert.Equal(before, Hash());
        Assert.Equal([Path.GetFileName(FilePath)], Directory.GetFiles(DirectoryPath).Select(Path.GetFileName));
        Assert.True(StoreMaintenance.Verify(FilePath).IsSound);
    }

    private void FillAndClose()
    {
        for (int i = 0; i < 4_000; i++)
        {
            Cache.Set($"key:{i}", TestBytes.Of(1_000));
        }

        Store.Dispose();
    }

    private CompactReport Compact() => StoreMaintenance.Compact(FilePath, new CompactOptions { TimeProvider = Clock });

    private sealed record Kept(string Collection, string Key, string Value, uint Flags, DateTimeOffset? ExpiresAt, TimeSpan? Sliding)
    {
        public static Kept Of(CairnCollection collection, StoreEntry entry)
        {
            // Peeking does not extend a sliding deadline.
            var value = new System.Buffers.ArrayBufferWriter<byte>();
            Assert.True(collection.TryPeek(entry.Key.Span, value, out EntryInfo info));
            return new Kept(
                collection.Name, entry.KeyText, Convert.ToHexString(SHA256.HashData(value.WrittenSpan)), info.Flags, info.ExpiresAt, info.SlidingInterval);
        }
    }
}
