using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn.Tests.Offline;

/// <summary>Kept entries that were damaged from outside, and stores with kept entries that are verified and compacted.</summary>
public sealed class KeptDamageTests : StoreTest
{
    private static readonly CollectionOptions Kept = new() { Region = StoreRegion.Keep, Durability = Durability.ProcessCrash };

    [Fact]
    public void Damaged_kept_entry_is_reported_by_every_read_until_it_is_set_again()
    {
        CairnCollection accounts = Store.Collection("accounts", Kept);
        accounts.Set("whole", "1"u8);
        accounts.Set("damaged", new byte[100]);
        accounts.Set("removed", new byte[100]);
        Damage("damaged");
        Damage("removed");

        for (int i = 0; i < 3; i++)
        {
            StoreCorruptException fault = Assert.Throws<StoreCorruptException>(() => accounts.Get("damaged"));
            Assert.Contains("'damaged' in the collection 'accounts'", fault.Message, StringComparison.Ordinal);
            Assert.Equal(FilePath, fault.File);
            Assert.Throws<StoreCorruptException>(() => accounts.TryPin("damaged", out _));
            Assert.Throws<StoreCorruptException>(() => accounts.Append("damaged", "more"u8));
        }

        Assert.Equal("1", accounts.GetString("whole"));
        Assert.True(accounts.Set("damaged", "new"u8));
        Assert.Equal("new", accounts.GetString("damaged"));
        Assert.True(accounts.Remove("removed"));
        Assert.Null(accounts.Get("removed"));
    }

    [Fact]
    public void Damaged_kept_entry_is_still_reported_after_its_segment_was_cleaned()
    {
        CairnCollection accounts = Store.Collection("accounts", Kept);
        accounts.Set("damaged", new byte[100]);
        Damage("damaged");

        for (int i = 0; i < 100_000; i++)
        {
            accounts.Set($"{i % 1000}", new byte[300]);
        }

        Assert.Throws<StoreCorruptException>(() => accounts.Get("damaged"));
        Assert.All(Enumerable.Range(0, 1000), i => Assert.Equal(new byte[300], accounts.Get($"{i}")));
    }

    [Fact]
    public void Segment_whose_entries_cannot_be_separated_keeps_those_that_can_be_read()
    {
        CairnCollection accounts = Store.Collection("accounts", Kept);
        for (int i = 0; i < 2_000; i++)
        {
            accounts.Set($"{i}", new byte[100]);
        }

        long offset = EntryOf("500");
        Store.Dispose();
        using (var file = new StoreSurgeon(FilePath))
        {
            file.WriteUInt32(offset + 4, 0x00FF_FFFF); // The length of the value.
        }

        CairnCollection again = OpenAgain().Collection("accounts");
        for (int i = 0; i < 100_000; i++)
        {
            again.Set($"{2_000 + (i % 1000)}", new byte[300]);
        }

        Assert.All(Enumerable.Range(0, 2_000), i => Assert.Equal(i == 500, again.Get($"{i}") is null));
    }

    [Fact]
    public void Verify_names_the_damage_and_compacting_keeps_the_rest()
    {
        CairnCollection accounts = Store.Collection("accounts", Kept);
        for (int i = 0; i < 1_000; i++)
        {
            accounts.Set($"{i}", TestBytes.Of(200));
        }

        Damage("500");
        Store.Dispose();

        VerifyReport damaged = StoreMaintenance.Verify(FilePath);
        CompactReport compacted = StoreMaintenance.Compact(FilePath);
        VerifyReport whole = StoreMaintenance.Verify(FilePath);

        Assert.Equal(1, damaged.DamageCount);
        Assert.Equal((999, 1, 0), (compacted.EntriesKept, compacted.EntriesDamaged, compacted.EntriesEvicted));
        Assert.Empty(whole.Findings);
        CairnCollection again = OpenAgain().Collection("accounts", Kept);
        Assert.All(Enumerable.Range(0, 1_000), i => Assert.Equal(i == 500 ? null : TestBytes.Of(200), again.Get($"{i}")));
    }

    [Fact]
    public void Verify_finds_nothing_in_a_store_full_of_kept_entries_after_every_way_to_close_it()
    {
        CairnStore store = Open(Options with { AverageEntryBytes = 512 });
        CairnCollection accounts = store.Collection("accounts", Kept);
        int kept = FillUp(accounts, 30);
        for (int i = 0; i < kept; i += 5)
        {
            accounts.Set($"{i}", new byte[30], Expiration.After(TimeSpan.FromMinutes(i + 1)));
        }

        VerifyReport inUse = StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock });
        Assert.True(store.Engine.Memory.HasOverflow);
        store.Dispose();
        VerifyReport closed = StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock });

        Assert.Empty(inUse.Findings);
        Assert.Empty(closed.Findings);
        Assert.Equal(kept, closed.Entries);
    }

    [Fact]
    public void Verify_finds_a_kept_entry_in_a_segment_that_is_evicted()
    {
        Store.Collection("accounts", Kept).Set("key", "value"u8);
        Store.Dispose();
        using (var file = new StoreSurgeon(FilePath))
        {
            file.Write(file.Layout.CollectionsOffset + StoreLayout.CollectionRecordBytes + 3, [0]);
            file.Write(file.Layout.CollectionsOffset + StoreLayout.CollectionRecordBytes + 5, [0]);
        }

        VerifyFinding finding = Assert.Single(StoreMaintenance.Verify(FilePath).Findings);

        Assert.Equal(VerifyArea.Segments, finding.Area);
    }

    [Fact]
    public void Compacting_keeps_all_that_is_kept_with_its_options_and_over_its_budget()
    {
        CairnCollection accounts = Store.Collection("accounts", Kept with { BudgetBytes = 1_000_000 });
        int kept = FillUp(accounts, 300);
        for (int i = 0; i < 20_000; i++)
        {
            Cache.Set($"flood {i}", new byte[300]);
        }

        Store.Collection("accounts", Kept with { BudgetBytes = 500_000 });
        Store.Dispose();

        StoreMaintenance.Compact(FilePath, new CompactOptions { MaxCapacityBytes = 2 << 20, CapacityBytes = 2 << 20 });

        CairnStore again = OpenAgain();
        Assert.All(Enumerable.Range(0, kept), i => Assert.Equal(new byte[300], again.Collection("accounts").Get($"{i}")));
        CollectionStatistics statistics = again.GetStatistics().Collections.Single();
        Assert.Equal((kept, 500_000, StoreRegion.Keep), (statistics.Entries, statistics.BudgetBytes, statistics.Region));
        Assert.Throws<StoreFullException>(() => again.Collection("accounts").Set("new", "value"u8));
        StoreAudit.Check(again);
    }

    [Fact]
    public void Compacting_into_too_small_a_store_fails_and_changes_nothing()
    {
        CairnCollection accounts = Store.Collection("accounts", Kept);
        int kept = FillUp(accounts, 300);
        Store.Dispose();

        StoreFullException full = Assert.Throws<StoreFullException>(
            () => StoreMaintenance.Compact(FilePath, new CompactOptions { MaxCapacityBytes = 4 << 20, CapacityBytes = 4 << 20 }));

        Assert.Contains("The store stays as it was", full.Message, StringComparison.Ordinal);
        CairnCollection again = OpenAgain().Collection("accounts");
        Assert.All(Enumerable.Range(0, kept), i => Assert.Equal(new byte[300], again.Get($"{i}")));
    }

    private static int FillUp(CairnCollection collection, int valueBytes)
    {
        for (int i = 0; ; i++)
        {
            try
            {
                collection.Set($"{i}", new byte[valueBytes]);
            }
            catch (StoreFullException)
            {
                return i;
            }
        }
    }

    // Flips a bit of the value.
    private void Damage(string key)
    {
        long offset = EntryOf(key);
        using var file = new StoreSurgeon(FilePath);
        file.Flip(offset + EntryView.HeaderBytes + 12 + key.Length + 1, 3);
    }

    private unsafe long EntryOf(string key)
    {
        byte[] bytes = System.Text.Encoding.ASCII.GetBytes(key);
        fixed (byte* start = bytes)
        {
            KeyRef place = Store.Engine.Place(start, bytes.Length, 1);
            Assert.True(HashIndex.Find(Store.Engine.Memory, place.Place, start, bytes.Length, 1, out Located located));
            return Bucket.LocationOf(located.Slot);
        }
    }
}
