using System.Text;

namespace Cairn.Tests.Eviction;

/// <summary>Collections whose entries are never evicted.</summary>
public sealed class KeepTests : StoreTest
{
    private static readonly CollectionOptions Kept = new() { Region = StoreRegion.Keep, Durability = Durability.ProcessCrash };

    [Fact]
    public void Kept_entries_survive_a_flood_of_others_that_are_evicted()
    {
        CairnCollection accounts = Store.Collection("accounts", Kept);
        for (int i = 0; i < 5_000; i++)
        {
            Assert.True(accounts.Set($"account {i}", ValueOf(i, 200)));
        }

        for (int i = 0; i < 100_000; i++)
        {
            Cache.Set($"flood {i}", TestBytes.Of(300));
        }

        Assert.True(Store.GetStatistics().Totals.Evictions > 0);
        for (int i = 0; i < 5_000; i++)
        {
            Assert.Equal(ValueOf(i, 200), accounts.Get($"account {i}"));
        }

        StoreAudit.Check(Store);
    }

    [Fact]
    public void Kept_entries_take_the_place_of_what_can_be_evicted()
    {
        for (int i = 0; i < 60_000; i++)
        {
            Cache.Set($"flood {i}", TestBytes.Of(300));
        }

        CairnCollection accounts = Store.Collection("accounts", Kept);
        int kept = FillUp(accounts, 300);

        // Most of eight MiB; spares and the ends of segments take the rest.
        Assert.InRange(kept, 6 * 1024 * 1024 / 330, 8 * 1024 * 1024 / 330);
        Assert.All(Enumerable.Range(0, kept), i => Assert.Equal(ValueOf(i, 300), accounts.Get($"{i}")));
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Write_that_finds_no_room_fails_and_changes_nothing()
    {
        CairnCollection accounts = Store.Collection("accounts", Kept);
        int kept = FillUp(accounts, 1000);

        Assert.Throws<StoreFullException>(() => accounts.Set("0", new byte[60_000]));
        Assert.Throws<StoreFullException>(() => accounts.Add("new", new byte[60_000]));
        Assert.Throws<StoreFullException>(() => accounts.Append("1", new byte[60_000]));

        Assert.Null(accounts.Get("new"));
        Assert.All(Enumerable.Range(0, kept), i => Assert.Equal(ValueOf(i, 1000), accounts.Get($"{i}")));
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Full_store_takes_new_entries_in_the_place_of_removed_ones()
    {
        CairnCollection accounts = Store.Collection("accounts", Kept);
        int kept = FillUp(accounts, 500);

        for (int round = 0; round < 5; round++)
        {
            for (int i = round; i < kept; i += 3)
            {
                accounts.Remove($"{i}");
            }

            for (int i = round; i < kept - (kept / 10); i += 3)
            {
                Assert.True(accounts.Set($"{i}", ValueOf(i, 500)));
            }

            for (int i = round; i < kept - (kept / 10); i += 3)
            {
                Assert.Equal(ValueOf(i, 500), accounts.Get($"{i}"));
            }
        }

        StoreAudit.Check(Store);
    }

    [Fact]
    public void Overwriting_the_same_entries_again_and_again_evicts_no_more_than_their_room()
    {
        CairnCollection accounts = Store.Collection("accounts", Kept);
        for (int i = 0; i < 200_000; i++)
        {
            Assert.True(accounts.Set($"{i % 2_000}", ValueOf(i, 300)));
        }

        for (int i = 198_000; i < 200_000; i++)
        {
            Assert.Equal(ValueOf(i, 300), accounts.Get($"{i % 2_000}"));
        }

        StoreAudit.Check(Store);
    }

    private static byte[] ValueOf(int number, int bytes)
    {
        byte[] value = new byte[bytes];
        Encoding.ASCII.GetBytes($"value {number}", value);
        return value;
    }

    // Returns the number of entries that were stored before there was no room.
    private static int FillUp(CairnCollection collection, int valueBytes)
    {
        for (int i = 0; ; i++)
        {
            try
            {
                Assert.True(collection.Set($"{i}", ValueOf(i, valueBytes)));
            }
            catch (StoreFullException)
            {
                return i;
            }
        }
    }
}
