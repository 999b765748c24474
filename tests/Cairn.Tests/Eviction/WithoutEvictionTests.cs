using System.Text;

namespace Cairn.Tests.Eviction;

/// <summary>A store that evicts nothing: writes fail when it is full, and only removed and expired entries make room.</summary>
public sealed class WithoutEvictionTests
{
    private const int ValueBytes = 1000;

    [Fact]
    public void Full_store_refuses_writes_and_keeps_every_entry()
    {
        using StoreDirectory directory = new();
        using CairnStore store = Open(directory, new ManualClock());

        int stored = Fill(store);

        Assert.InRange(stored, 2_000, 4_100);
        Assert.Equal(0, store.GetStatistics().Totals.Evictions);
        for (int i = 0; i < stored; i++)
        {
            Assert.True(store.DefaultCollection.Contains(Key(i)), $"Key {i} of {stored} is gone.");
        }
    }

    [Fact]
    public void Overwriting_never_fails_in_a_store_that_is_not_full()
    {
        using StoreDirectory directory = new();
        using CairnStore store = Open(directory, new ManualClock());
        const int Keys = 1_500;

        for (int i = 0; i < 20 * Keys; i++)
        {
            Assert.True(store.DefaultCollection.Set(Key(i * 7919 % Keys), Value(i)), $"Write {i} was refused.");
        }

        Assert.Equal(Keys, store.GetStatistics().Totals.Entries);
        Assert.Equal(0, store.GetStatistics().Totals.Evictions);
    }

    [Fact]
    public void Removed_and_expired_entries_make_room()
    {
        var clock = new ManualClock();
        using StoreDirectory directory = new();
        using CairnStore store = Open(directory, clock);
        int stored = Fill(store);

        for (int i = 0; i < stored; i += 2)
        {
            store.DefaultCollection.Remove(Key(i));
        }

        Assert.True(store.DefaultCollection.Set("new"u8, Value(0)));
        int more = 0;
        while (store.DefaultCollection.Set(Key(stored + more), Value(0), Expiration.After(TimeSpan.FromMinutes(1))))
        {
            more++;
        }

        Assert.InRange(more, stored / 4, stored);
        clock.Advance(TimeSpan.FromMinutes(2));
        Assert.True(store.DefaultCollection.Set("newer"u8, Value(0)));
        Assert.Equal(0, store.GetStatistics().Totals.Evictions);
        for (int i = 1; i < stored; i += 2)
        {
            Assert.True(store.DefaultCollection.Contains(Key(i)), $"Key {i} of {stored} is gone.");
        }
    }

    [Fact]
    public void Large_value_takes_no_room_from_others()
    {
        using StoreDirectory directory = new();
        using CairnStore store = Open(directory, new ManualClock());
        int stored = Fill(store);

        Assert.False(store.DefaultCollection.Set("large"u8, new byte[store.MaxValueBytes]));

        Assert.Equal(stored, store.GetStatistics().Totals.Entries);
    }

    private static CairnStore Open(StoreDirectory directory, ManualClock clock)
    {
        var store = CairnStore.Open(new StoreOptions { Path = directory.FilePath, CapacityBytes = 4 << 20, TimeProvider = clock, FlushOnClose = false, RemovesExpired = false });
        store.Engine.EvictsEntries = false;
        return store;
    }

    // Each partition refuses on its own, so the store is full when many writes in a row are refused.
    private static int Fill(CairnStore store)
    {
        int count = 0;
        while (store.DefaultCollection.Set(Key(count), Value(count)))
        {
            count++;
        }

        return count;
    }

    private static byte[] Key(int number) => Encoding.ASCII.GetBytes($"key{number}");

    private static byte[] Value(int number)
    {
        byte[] value = new byte[ValueBytes];
        value[0] = (byte)number;
        return value;
    }
}
