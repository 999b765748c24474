using System.Buffers;
using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Storage;

namespace Cairn.Tests;

/// <summary>The hazard cells of one opening: the pins that share them, and the result of each operation when no cell is free.</summary>
public sealed class ScarceCellTests : StoreTest
{
    // Longer than a segment, so that each value has a segment of its own.
    private const int LongBytes = 80_000;

    [Fact]
    public void Pins_of_one_value_take_one_cell_however_many_they_are()
    {
        Cache.Set("key", TestBytes.Of(LongBytes));

        List<PinnedValue> pins = [.. Enumerable.Range(0, 1000).Select(_ => PinOf("key"))];

        Assert.Equal(StoreLayout.HazardCellsPerOwner - 1, FreeCells());
        pins.ForEach(pin => Assert.Equal(TestBytes.Of(LongBytes), pin.Value.ToArray()));
        pins.ForEach(pin => pin.Dispose());
        Assert.Equal(StoreLayout.HazardCellsPerOwner, FreeCells());
    }

    [Fact]
    public void Shared_cell_protects_its_segment_until_the_last_pin_is_given_up()
    {
        CairnStore store = Open(Options with { CapacityBytes = StoreLimits.MinCapacityBytes });
        CairnCollection cache = store.DefaultCollection;
        byte[] value = TestBytes.Of(3000);
        cache.Set("key", value);
        Assert.True(cache.TryPin("key", out PinnedValue? first));
        Assert.True(cache.TryPin("key", out PinnedValue? second));

        first.Dispose();
        Fill(store);
        Assert.Equal(value, second.Value.ToArray());

        Assert.True(cache.Set("key", value));
        Assert.True(cache.TryPin("key", out PinnedValue? third)); // It is in another segment, and therefore uses another cell.
        second.Dispose();
        Fill(store);
        Assert.Equal(value, third.Value.ToArray());
        third.Dispose();
        Assert.False(store.Engine.Owners.HasPins);
    }

    [Fact]
    public void Lasting_pins_leave_cells_to_brief_ones()
    {
        using CairnStore store = RoomyStore();
        List<PinnedValue> pins = PinOthers(store, 80);

        Assert.Equal(OwnerTable.BriefCells, FreeCells(store));
        Assert.True(store.DefaultCollection.Set("another", TestBytes.Of(LongBytes)));
        Assert.Equal(TestBytes.Of(LongBytes), store.DefaultCollection.Get("another"));
        pins.ForEach(pin => pin.Dispose());
        Assert.Equal(StoreLayout.HazardCellsPerOwner, FreeCells(store));
    }

    [Fact]
    public void Value_that_is_pinned_beyond_the_cells_is_a_copy_that_keeps_its_bytes()
    {
        using CairnStore store = RoomyStore();

        List<PinnedValue> pins = PinOthers(store, 80);
        for (int i = 0; i < 80; i++)
        {
            store.DefaultCollection.Set($"other {i}", "new"u8);
        }

        for (int i = 0; i < 80; i++)
        {
            Assert.Equal(TestBytes.Of(LongBytes, seed: i), pins[i].Value.ToArray());
        }

        pins.ForEach(pin => pin.Dispose());
        Assert.Throws<ObjectDisposedException>(() => pins[79].Value.Length);
    }

    [Fact]
    public void Pin_that_only_shares_finds_no_cell_until_another_pins_the_segment()
    {
        Cache.Set("key", TestBytes.Of(LongBytes));

        Assert.Equal(PinStatus.NoFreeCell, TryPin("key", PinTerm.LastingIfShared, out _));
        using PinnedValue other = PinOf("key");
        Assert.Equal(PinStatus.Pinned, TryPin("key", PinTerm.LastingIfShared, out Pin shared));
        shared.Dispose();
    }

    [Fact]
    public void Entry_longer_than_may_be_copied_finds_no_cell_and_a_missing_one_is_missing()
    {
        Cache.Set("key", TestBytes.Of(LongBytes));
        using var held = new HeldCells(Store);

        Assert.Equal(PinStatus.NoFreeCell, TryPin("key", PinTerm.Brief, out _, LongBytes));
        Assert.Equal(PinStatus.Missing, TryPin("none", PinTerm.Brief, out _, LongBytes));
        Assert.Equal(PinStatus.Pinned, TryPin("key", PinTerm.Brief, out Pin copy, LongBytes + 100));
        using (copy)
        {
            Assert.InRange(copy.CopyBytes, LongBytes, LongBytes + 100);
            Assert.Equal(TestBytes.Of(LongBytes), copy.Value.ToArray());
        }
    }

    [Theory]
    [InlineData(10)]
    [InlineData(50_000)]
    [InlineData(300_000)]
    public void Every_read_gives_the_value_when_no_cell_is_free(int length)
    {
        byte[] value = TestBytes.Of(length);
        Cache.Set("key", value, Expiration.Sliding(TimeSpan.FromMinutes(5)), flags: 7);
        using var held = new HeldCells(Store);
        var writer = new ArrayBufferWriter<byte>();

        Assert.Equal(value, Cache.Get("key"));
        Assert.True(Cache.TryPeek("key", writer, out EntryInfo info));
        Assert.Equal(value, writer.WrittenSpan.ToArray());
        Assert.Equal(7u, info.Flags);
        Assert.True(Cache.Read("key", value, static (bytes, _, expected) => Assert.Equal(expected, bytes.ToArray())));
        using PinnedValue pinned = PinOf("key");
        using Stream stream = Cache.OpenRead("key")!;
        Cache.Remove("key");
        Assert.Equal(value, pinned.Value.ToArray());
        Assert.Equal(length, stream.Length);
        Assert.False(Cache.TryPin("key", out _));
        Assert.False(Cache.Read("key", 0, static (_, _, _) => Assert.Fail("There is no value.")));
        Assert.False(Cache.TryPeek("key", writer, out _));
    }

    [Fact]
    public void Value_of_an_encrypted_store_is_read_when_no_cell_is_free()
    {
        byte[] value = TestBytes.Of(LongBytes);
        CairnStore store = Open(Options with { Path = PathOf("encrypted.cairn"), Encryption = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes)) });
        CairnCollection cache = store.DefaultCollection;
        cache.Set("key", value);
        using var held = new HeldCells(store);
        var writer = new ArrayBufferWriter<byte>();

        Assert.Equal(value, cache.Get("key"));
        Assert.True(cache.TryPeek("key", writer, out _));
        Assert.Equal(value, writer.WrittenSpan.ToArray());
    }

    [Fact]
    public void Long_value_is_touched_and_joined_or_left_alone_when_no_cell_is_free()
    {
        byte[] value = TestBytes.Of(LongBytes);
        Cache.Set("key", value);
        using (new HeldCells(Store))
        {
            // Writing the new entry needs a cell of its own: there is no room, and the old value stays.
            Assert.Equal(WriteStatus.NoRoom, Cache.Touch("key", Expiration.After(TimeSpan.FromHours(1))));
            Assert.Equal(value, Cache.Get("key"));
        }

        Assert.Equal(WriteStatus.Stored, Cache.Touch("key", Expiration.After(TimeSpan.FromHours(1))));
        Assert.Equal(value, Cache.Get("key"));
    }

    [Theory]
    [InlineData(10)]
    [InlineData(50_000)]
    public void Writing_when_no_cell_is_free_stores_the_value_or_leaves_none(int length)
    {
        Cache.Set("other", "old"u8);
        using (new HeldCells(Store))
        {
            bool isStored = Cache.Set("other", TestBytes.Of(length));

            Assert.Equal(isStored ? TestBytes.Of(length) : null, Cache.Get("other"));
        }

        Assert.True(Cache.Set("other", TestBytes.Of(length)));
    }

    [Fact]
    public void Damaged_value_is_a_miss_when_no_cell_is_free()
    {
        Cache.Set("key", TestBytes.Of(LongBytes));
        Damage("key");
        using var held = new HeldCells(Store);

        Assert.False(Cache.TryPin("key", out _));
        Assert.Equal(1, Store.GetStatistics().Totals.DamagedEntries);
        Assert.False(Cache.Contains("key"));
    }

    [Fact]
    public async Task Values_stay_whole_while_threads_share_cells_under_eviction()
    {
        const int Keys = 40;
        using CairnStore store = Open(Options with { CapacityBytes = StoreLimits.MinCapacityBytes });
        CairnCollection cache = store.DefaultCollection;
        static byte[] ValueOf(int key) => TestBytes.Of(700, seed: key);

        await Task.WhenAll(Enumerable.Range(0, 4).Select(thread => OwnThread.Run(() =>
        {
            var random = new Random(thread);
            var pins = new Queue<(int Key, PinnedValue Pin)>();
            for (int turn = 0; turn < 20_000; turn++)
            {
                int key = random.Next(Keys);
                if (cache.TryPin($"{key}", out PinnedValue? pinned))
                {
                    pins.Enqueue((key, pinned));
                }
                else
                {
                    cache.Set($"{key}", ValueOf(key));
                }

                cache.Set($"filler {random.Next(2000)}", new byte[300]);
                while (pins.Count > random.Next(8))
                {
                    (int pinnedKey, PinnedValue pin) = pins.Dequeue();
                    Assert.True(pin.Value.SequenceEqual(ValueOf(pinnedKey)), $"Thread {thread}, turn {turn}: the pinned bytes changed.");
                    pin.Dispose();
                }
            }

            foreach ((_, PinnedValue pin) in pins)
            {
                pin.Dispose();
            }
        })));

        Assert.Equal(StoreLayout.HazardCellsPerOwner, FreeCells(store));
    }

    private static void Fill(CairnStore store)
    {
        for (int i = 0; i < 3_000; i++)
        {
            store.DefaultCollection.Set($"filler {i}", TestBytes.Of(2_000, seed: i));
        }
    }

    private CairnStore RoomyStore() => CairnStore.Open(Options with { Path = PathOf("roomy.cairn"), CapacityBytes = 64 << 20 });

    private static List<PinnedValue> PinOthers(CairnStore store, int count)
    {
        var pins = new List<PinnedValue>();
        for (int i = 0; i < count; i++)
        {
            Assert.True(store.DefaultCollection.Set($"other {i}", TestBytes.Of(LongBytes, seed: i)));
            Assert.True(store.DefaultCollection.TryPin($"other {i}", out PinnedValue? pinned), $"Value {i} is pinned.");
            pins.Add(pinned);
        }

        return pins;
    }

    private PinnedValue PinOf(string key)
    {
        Assert.True(Cache.TryPin(key, out PinnedValue? pinned));
        return pinned;
    }

    private unsafe PinStatus TryPin(string key, PinTerm term, out Pin pin, long mostCopied = 0)
    {
        byte[] name = System.Text.Encoding.UTF8.GetBytes(key);
        fixed (byte* bytes = name)
        {
            return Store.Engine.TryPin(Store.Engine.Place(bytes, name.Length, 0), term, out pin, mostCopied);
        }
    }

    private unsafe void Damage(string key)
    {
        using PinnedValue pinned = PinOf(key);
        fixed (byte* value = pinned.Value)
        {
            value[LongBytes / 2] ^= 1;
        }
    }

    private int FreeCells(CairnStore? store = null)
    {
        OwnerTable owners = (store ?? Store).Engine.Owners;
        var cells = new List<int>();
        while (owners.TryTakeHazardCell(isLasting: false, out int cell))
        {
            cells.Add(cell);
        }

        cells.ForEach(owners.ReturnHazardCell);
        return cells.Count;
    }
}
