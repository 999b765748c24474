using Cairn.Storage;

namespace Cairn.Tests.Eviction;

/// <summary>Budgets, deadlines, long values and small indexes of collections whose entries are kept.</summary>
public sealed class KeepLimitsTests : StoreTest
{
    private static readonly CollectionOptions Kept = new() { Region = StoreRegion.Keep, Durability = Durability.ProcessCrash };

    [Fact]
    public void Budget_is_hard_to_the_entry()
    {
        CairnCollection accounts = Store.Collection("accounts", Kept with { BudgetBytes = 100_000 });
        int kept = FillUp(accounts, 100);

        Assert.InRange(BytesOf("accounts"), 100_000 - 200, 100_000);
        Assert.True(accounts.Set("0", new byte[50]), "A shorter value fits in the place of a longer one.");
        accounts.Remove("1");
        Assert.True(accounts.Set("new", new byte[100]));
        Assert.Throws<StoreFullException>(() => accounts.Set("newer", new byte[200]));
        Assert.False(accounts.Contains("newer"));
        Assert.True(Cache.Set("beside", new byte[200]), "Other collections have room.");
        Assert.Equal(kept, Store.GetStatistics().Collections.Single().Entries);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Budget_holds_for_one_value_as_for_many()
    {
        CairnCollection files = Store.Collection("files", Kept with { BudgetBytes = 500_000 });
        files.Set("first", new byte[450_000]);

        Assert.Throws<StoreFullException>(() => files.Set("second", new byte[450_000]));
        Assert.Throws<StoreFullException>(() => files.Set("second", new MemoryStream(new byte[450_000]), 450_000));
        Assert.Throws<StoreFullException>(() => files.Append("first", new byte[60_000]));

        Assert.Equal(450_000, files.Get("first")!.Length);
        Assert.True(files.Set("first", new byte[460_000]));
    }

    [Fact]
    public void Larger_budget_makes_room()
    {
        CairnCollection accounts = Store.Collection("accounts", Kept with { BudgetBytes = 10_000 });
        FillUp(accounts, 100);

        CairnCollection again = OpenAgain().Collection("accounts", Kept with { BudgetBytes = 20_000 });

        Assert.True(again.Set("new", new byte[5_000]));
        Assert.True(accounts.Set("newer", new byte[100]));
    }

    [Fact]
    public void Expired_entries_make_room_within_the_budget()
    {
        CairnCollection sessions = Store.Collection("sessions", Kept with { BudgetBytes = 100_000 });
        int kept = FillUp(sessions, 100, Expiration.After(TimeSpan.FromMinutes(1)));
        Clock.Advance(TimeSpan.FromMinutes(2));

        Assert.InRange(FillUp(sessions, 100, Expiration.After(TimeSpan.FromMinutes(1)), prefix: "second "), kept * 9 / 10, kept);
        Assert.Equal(kept, Store.GetStatistics().Totals.Expirations);
    }

    [Fact]
    public void Expired_entries_make_room_in_a_full_store_and_others_stay()
    {
        CairnCollection sessions = Store.Collection("sessions", Kept);
        for (int i = 0; i < 5_000; i++)
        {
            sessions.Set($"lasting {i}", TestBytes.Of(300));
            sessions.Set($"passing {i}", TestBytes.Of(300), Expiration.After(TimeSpan.FromSeconds(10 + (i % 50))));
        }

        FillUp(sessions, 300);
        Clock.Advance(TimeSpan.FromMinutes(1));

        // Segments with lasting entries keep some of the room. How much depends on the store's random hash seed.
        Assert.InRange(FillUp(sessions, 300, prefix: "later "), 3_500, 5_000);
        Assert.All(Enumerable.Range(0, 5_000), i => Assert.Equal(TestBytes.Of(300), sessions.Get($"lasting {i}")));
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Sliding_entry_is_kept_as_long_as_it_is_used()
    {
        CairnCollection sessions = Store.Collection("sessions", Kept);
        sessions.Set("used", "yes"u8, Expiration.Sliding(TimeSpan.FromMinutes(1)));
        sessions.Set("unused", "no"u8, Expiration.Sliding(TimeSpan.FromMinutes(1)));
        for (int i = 0; i < 10; i++)
        {
            Clock.Advance(TimeSpan.FromSeconds(30));
            Assert.Equal("yes", sessions.GetString("used"));
            FillUp(sessions, 300, Expiration.After(TimeSpan.FromSeconds(20)), prefix: $"{i} ");
        }

        Assert.Equal("yes", sessions.GetString("used"));
        Assert.Null(sessions.Get("unused"));
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Cleared_collection_gives_its_room_to_another()
    {
        CairnCollection first = Store.Collection("first", Kept);
        CairnCollection second = Store.Collection("second", Kept);
        second.Set("stays", "here"u8);
        int kept = FillUp(first, 500);

        Assert.True(first.Clear());

        Assert.InRange(FillUp(second, 500), kept - 100, kept + 100);
        Assert.Equal("here", second.GetString("stays"));
        Assert.Equal(0, Store.GetStatistics().Collections[0].Entries);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Long_values_are_kept_and_replaced_until_there_is_no_room()
    {
        CairnCollection files = Store.Collection("files", Kept);
        var stored = new Dictionary<string, int>(StringComparer.Ordinal);
        var random = new Random(20261122);
        for (int i = 0; i < 3_000; i++)
        {
            string name = $"file {random.Next(40)}";
            int bytes = random.Next(4) == 0 ? random.Next(600_000) : random.Next(20_000);
            try
            {
                if (random.Next(5) == 0)
                {
                    Assert.Equal(stored.Remove(name), files.Remove(name));
                }
                else
                {
                    Assert.True(files.Set(name, TestBytes.Of(bytes)));
                    stored[name] = bytes;
                }
            }
            catch (StoreFullException)
            {
                // Existing entries stay, which is checked below.
            }

            Cache.Set($"flood {i}", TestBytes.Of(5_000));
        }

        Assert.All(stored, file => Assert.Equal(TestBytes.Of(file.Value), files.Get(file.Key)));
        Assert.Equal(stored.Count, Store.GetStatistics().Collections.Single().Entries);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Index_far_too_small_takes_kept_entries_until_its_overflow_buckets_are_full()
    {
        CairnStore store = Open(Options with { AverageEntryBytes = 4096 });
        CairnCollection accounts = store.Collection("accounts", Kept);
        for (int i = 0; i < 20_000; i++)
        {
            store.DefaultCollection.Set($"flood {i}", "x"u8);
        }

        int kept = FillUp(accounts, 8);

        StoreLayout layout = store.Engine.Memory.Layout;
        Assert.True(store.Engine.Memory.HasOverflow);
        Assert.InRange(kept, layout.PartitionCount * layout.HomeBuckets * 7 / 2, layout.PartitionCount * layout.BucketsPerPartition * 7);
        Assert.All(Enumerable.Range(0, kept), i => Assert.Equal(new byte[8], accounts.Get($"{i}")));
        Assert.Null(accounts.Get("missing"));
        Assert.True(accounts.Remove("0"));
        Assert.True(accounts.Set("0", new byte[8]), "A removed entry leaves its place.");
        StoreAudit.Check(store);
    }

    [Fact]
    public void Entries_in_overflow_buckets_are_updated_listed_and_removed_like_others()
    {
        CairnStore store = Open(Options with { AverageEntryBytes = 4096 });
        CairnCollection accounts = store.Collection("accounts", Kept);
        int kept = FillUp(accounts, 8);
        Assert.True(store.Engine.Memory.HasOverflow);

        for (int i = 0; i < kept; i++)
        {
            Assert.True(accounts.Set($"{i}", BitConverter.GetBytes((long)i)));
        }

        var listed = new HashSet<string>(StringComparer.Ordinal);
        var cursor = default(ScanCursor);
        while (accounts.Scan(ref cursor, null, (key, _) => Assert.True(listed.Add(System.Text.Encoding.ASCII.GetString(key)))))
        {
            // Continues until every bucket was visited.
        }

        Assert.Equal(kept, listed.Count);
        Assert.All(Enumerable.Range(0, kept), i => Assert.Equal(BitConverter.GetBytes((long)i), accounts.Get($"{i}")));
        Assert.All(Enumerable.Range(0, kept), i => Assert.True(accounts.Remove($"{i}")));
        Assert.Equal(0, store.GetStatistics().Totals.Entries);
        StoreAudit.Check(store);
        store.Dispose();

        CairnStore again = Open(Options);
        Assert.False(again.Engine.Memory.HasOverflow, "The overflow buckets are no longer needed.");
    }

    [Fact]
    public void Entry_that_may_be_evicted_never_displaces_a_kept_one()
    {
        CairnStore store = Open(Options with { AverageEntryBytes = 4096 });
        CairnCollection accounts = store.Collection("accounts", Kept);
        int kept = FillUp(accounts, 8);

        int declined = 0;
        for (int i = 0; i < 20_000; i++)
        {
            declined += store.DefaultCollection.Set($"flood {i}", "x"u8) ? 0 : 1;
        }

        Assert.True(declined > 0);
        Assert.All(Enumerable.Range(0, kept), i => Assert.Equal(new byte[8], accounts.Get($"{i}")));
        StoreAudit.Check(store);
    }

    private long BytesOf(string collection) => Store.GetStatistics().Collections.Single(c => c.Name == collection).Bytes;

    // Returns the number of entries that were stored before there was no room.
    private static int FillUp(CairnCollection collection, int valueBytes, Expiration expiration = default, string prefix = "")
    {
        for (int i = 0; ; i++)
        {
            try
            {
                Assert.True(collection.Set($"{prefix}{i}", new byte[valueBytes], expiration));
            }
            catch (StoreFullException)
            {
                return i;
            }
        }
    }
}
