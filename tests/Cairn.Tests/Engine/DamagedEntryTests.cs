using Cairn.Collections;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn.Tests.Engine;

/// <summary>
/// Damages single numbers of entries, counters and collections while the store is open. Operations then end as if the entry did not exist.
/// </summary>
public sealed unsafe class DamagedEntryTests : StoreTest
{
    [Fact]
    public void Entry_that_is_longer_than_any_value_is_not_there_for_any_operation()
    {
        Action<int>[] operations =
        [
            i => Assert.Equal(WriteStatus.Stored, Cache.Increment($"{i}", 1, out _, initialValue: 1)),
            i => Assert.Equal(WriteStatus.Stored, Cache.Add($"{i}", "2"u8)),
            i => Assert.Equal(WriteStatus.NotFound, Cache.Replace($"{i}", "2"u8)),
            i => Assert.Equal(WriteStatus.NotFound, Cache.Append($"{i}", "2"u8)),
            i => Assert.Equal(WriteStatus.NotFound, Cache.Touch($"{i}", TimeSpan.FromHours(1))),
            i => Assert.False(Cache.Remove($"{i}")),
            i => Assert.Equal(LeaseStatus.Acquired, Cache.AcquireLease($"{i}", TimeSpan.Zero, out _)),
            i => Assert.True(Cache.Set($"{i}", "2"u8)),
            i => Assert.Null(Cache.Get($"{i}")),
        ];
        for (int i = 0; i < operations.Length; i++)
        {
            Cache.Set($"{i}", "1"u8);
            *(uint*)(Find($"{i}") + 4) = (uint)Store.MaxValueBytes + 1;

            operations[i](i);
        }
    }

    [Fact]
    public void Damaged_lease_is_taken_over()
    {
        Cache.AcquireLease("key", TimeSpan.Zero, out _);
        CairnStore other = OpenAgain();
        Assert.Equal(LeaseStatus.Held, other.DefaultCollection.AcquireLease("key", TimeSpan.Zero, out _));
        byte* entry = Find("key");
        *(long*)(entry + EntryView.OffsetOf((EntryFields)entry[3], EntryFields.Lease) + 8) = long.MaxValue;

        Assert.Equal(LeaseStatus.Acquired, other.DefaultCollection.AcquireLease("key", TimeSpan.Zero, out _));
    }

    [Fact]
    public void Counters_of_any_size_are_added_up()
    {
        for (int number = 0; number < Store.PartitionCount; number++)
        {
            Store.Engine.Memory.Partition(number)->Sets = long.MaxValue;
            Store.Engine.Memory.Partition(number)->Evictions = long.MinValue;
        }

        Store.Engine.Memory.Super->CreatedUnixMs = long.MaxValue;

        StoreStatistics statistics = Store.GetStatistics();

        Assert.Equal(long.MaxValue, statistics.Totals.Sets);
        Assert.Equal(long.MinValue, statistics.Totals.Evictions);
        Assert.Equal(9999, statistics.CreatedAt.Year);
    }

    [Theory]
    [InlineData(1, long.MaxValue)]
    [InlineData(2, long.MaxValue)]
    [InlineData(1, -1)]
    [InlineData(77, 1)]
    public void Value_outlives_an_impossible_default_expiration(byte kind, long milliseconds)
    {
        CairnCollection books = Store.Collection("books");
        var record = (CollectionRecord*)Store.Engine.Memory.CollectionRecord((int)books.Number);
        record->ExpirationKind = kind;
        record->ExpirationMs = milliseconds;

        Assert.True(books.Set("42", "Dune"u8));
        Clock.Advance(TimeSpan.FromDays(365));

        Assert.Equal("Dune", books.GetString("42"));
    }

    [Theory]
    [InlineData(StoreRegion.Evict)]
    [InlineData(StoreRegion.Keep)]
    public void Collection_stays_what_it_is_whichever_bit_of_its_region_is_damaged(StoreRegion region)
    {
        CairnCollection books = Store.Collection("books", new CollectionOptions { Region = region });
        var record = (CollectionRecord*)Store.Engine.Memory.CollectionRecord((int)books.Number);
        byte sound = record->RegionMark;
        for (int bit = 0; bit < 8; bit++)
        {
            record->RegionMark ^= (byte)(1 << bit);
            Assert.Equal((region, false), (record->Region, record->IsRegionSound));
            (record->RegionMark, record->RegionMarkAgain) = (sound, record->RegionMark);
            Assert.Equal((region, false), (record->Region, record->IsRegionSound));
            record->RegionMarkAgain = sound;
        }

        Assert.Equal((region, true), (record->Region, record->IsRegionSound));
    }

    [Theory]
    [InlineData(500)]
    [InlineData(100)]
    [InlineData(-1)]
    public void Collections_that_were_never_named_take_no_place(int count)
    {
        CairnStore first = Open(Options);
        first.Collection("books").Set("42", "Dune"u8);
        first.Engine.Memory.Super->CollectionCount = count;
        first.Dispose();

        Assert.True(Store.Collection("films").Set("42", "Alien"u8));

        Assert.Equal(count < 0 ? ["films"] : ["books", "films"], Store.CollectionNames);
        Assert.Equal(count < 0 ? null : "Dune", Store.Collection("books").GetString("42"));
    }

    [Fact]
    public void Collection_without_a_name_gives_its_place_to_a_new_one()
    {
        Store.Collection("books").Set("42", "Dune"u8);
        Store.Engine.Memory.Super->CollectionCount = StoreLayout.MaxCollections - 1;

        Assert.True(Store.Collection("films").Set("42", "Alien"u8));

        Assert.Equal("Alien", Store.Collection("films").GetString("42"));
        Assert.Equal("Dune", OpenAgain().Collection("books").GetString("42"));
        Assert.Equal(["books", "films"], Store.CollectionNames.Take(2));
    }

    private byte* Find(string key)
    {
        byte[] bytes = System.Text.Encoding.UTF8.GetBytes(key);
        fixed (byte* start = bytes)
        {
            KeyRef place = Store.Engine.Place(start, bytes.Length, 0);
            Assert.True(HashIndex.Find(Store.Engine.Memory, place.Place, start, bytes.Length, 0, out Located located));
            return located.Entry.Start;
        }
    }
}
