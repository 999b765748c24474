using Cairn.Opening;
using Cairn.Storage;

namespace Cairn.Tests.Recovering;

/// <summary>
/// A damaged store that dead processes left. Cleared entries stay cleared, and the recovery finds every segment again.
/// </summary>
public sealed unsafe class DamagedPartitionTests : StoreTest
{
    private const int VersionOffset = 128;

    [Fact]
    public void Version_that_was_zeroed_with_the_mark_beside_it_brings_nothing_back()
    {
        FillAndClear();

        DamagePartitions(block => block[..PartitionBlock.WatermarksOffset].Clear());

        Assert.Empty(Cache.Entries());
        Assert.Empty(Store.Collection("other").Entries());
        ExpectWorking();
    }

    [Fact]
    public void Watermarks_that_were_zeroed_bring_nothing_back()
    {
        FillAndClear();

        DamagePartitions(block => block.Slice(PartitionBlock.WatermarksOffset, StoreLayout.MaxCollections * 16).Clear());

        Assert.Empty(Cache.Entries());
        Assert.Empty(Store.Collection("other").Entries());
        ExpectWorking();
    }

    [Fact]
    public void Whole_partition_blocks_that_were_zeroed_bring_nothing_back()
    {
        FillAndClear();

        DamagePartitions(block => block.Clear());

        Assert.Empty(Cache.Entries());
        Assert.Empty(Store.Collection("other").Entries());
        ExpectWorking();
    }

    [Fact]
    public void Any_flipped_bit_of_a_watermark_brings_nothing_back()
    {
        for (int bit = 0; bit < 128; bit++)
        {
            CairnStore store = Open(Options);
            for (int i = 0; i < 50; i++)
            {
                store.DefaultCollection.Set($"{i}", "old"u8);
            }

            store.DefaultCollection.Clear();
            store.Dispose();
            DamagePartitions(block => block[PartitionBlock.WatermarksOffset + (bit / 8)] ^= (byte)(1 << (bit % 8)));

            store = Open(Options);
            Assert.Empty(store.DefaultCollection.Entries());
            StoreAudit.Check(store);
            store.Dispose();
        }
    }

    [Fact]
    public void Version_damaged_downwards_does_not_keep_entries_from_being_cleared()
    {
        CairnStore first = Open(Options);
        for (int i = 0; i < 500; i++)
        {
            first.DefaultCollection.Set($"{i}", "old"u8);
        }

        first.Dispose();
        Clock.Advance(TimeSpan.FromSeconds(1));
        DamagePartitions(block => block[VersionOffset + 3] = 0);

        Assert.True(Cache.Clear());

        Assert.Empty(Cache.Entries());
        ExpectWorking();
    }

    [Fact]
    public void Version_damaged_upwards_leaves_versions_for_new_values()
    {
        CairnStore first = Open(Options);
        for (int i = 0; i < 500; i++)
        {
            first.DefaultCollection.Set($"{i}", "old"u8);
        }

        first.DefaultCollection.TryGetInfo("1", out EntryInfo before);
        for (int number = 0; number < first.PartitionCount; number++)
        {
            first.Engine.Memory.Partition(number)->Version = ulong.MaxValue;
        }

        // Entries cleared with such a version stay cleared. Entries that are set afterwards are not affected.
        CairnCollection other = first.Collection("other");
        other.Set("key", "old"u8);
        for (int number = 0; number < first.PartitionCount; number++)
        {
            first.Engine.Memory.Partition(number)->Version = ulong.MaxValue;
        }

        other.Clear();
        first.Dispose();

        Assert.Equal("old", Cache.GetString("1"));
        Assert.Empty(Store.Collection("other").Entries());
        for (int i = 0; i < 500; i++)
        {
            Assert.True(Cache.Set($"{i}", "new"u8));
            Assert.True(Store.Collection("other").Set($"{i}", "new"u8));
            Assert.Equal("new", Cache.GetString($"{i}"));
            Assert.Equal("new", Store.Collection("other").GetString($"{i}"));
        }

        Cache.TryGetInfo("1", out EntryInfo after);
        Assert.True(after.Version > before.Version);
        StoreAudit.Check(Store);
    }

    [Fact]
    public void Flipped_bit_in_the_lists_of_segments_loses_no_segment()
    {
        for (int bit = 0; bit < 64 * 8; bit += 3)
        {
            CairnStore store = Open(Options with { CapacityBytes = StoreLimits.MinCapacityBytes });
            for (int i = 0; i < 1000; i++)
            {
                store.DefaultCollection.Set($"{i}", TestBytes.Of(1000, seed: i));
            }

            store.Dispose();
            DamagePartitions(block => block[144 + (bit / 8)] ^= (byte)(1 << (bit % 8)));

            store = Open(Options);
            for (int i = 0; i < 1000; i++)
            {
                Assert.True(store.DefaultCollection.Get($"{i}") is not { } value || value.AsSpan().SequenceEqual(TestBytes.Of(1000, seed: i)));
            }

            Assert.True(store.DefaultCollection.Set("key", TestBytes.Of(2000)), $"bit {bit}");
            StoreAudit.Check(store);
            store.Dispose();
        }
    }

    // Puts old values into every partition and into two collections, and clears all of them. The file stays as if all processes had died.
    private void FillAndClear()
    {
        CairnStore store = Open(Options);
        CairnCollection cache = store.DefaultCollection;
        CairnCollection other = store.Collection("other");
        for (int i = 0; i < 500; i++)
        {
            cache.Set($"{i}", "old"u8);
            other.Set($"{i}", "old"u8);
        }

        cache.Clear();
        other.Clear();
        Assert.Empty(cache.Entries());
        store.Dispose();
    }

    private void DamagePartitions(SpanAction damage)
    {
        byte[] file = File.ReadAllBytes(FilePath);
        StoreLayout layout = LayoutOf(file);
        for (int number = 0; number < layout.PartitionCount; number++)
        {
            damage(file.AsSpan((int)layout.PartitionsOffset + (number * layout.PartitionBlockBytes), layout.PartitionBlockBytes));
        }

        File.WriteAllBytes(FilePath, file);
    }

    private static StoreLayout LayoutOf(byte[] file)
    {
        fixed (byte* bytes = file)
        {
            var super = (Superblock*)bytes;
            Assert.Equal(super->LayoutCheck, StoreFormatter.LayoutCheck(super));
            return StoreLayout.Restore(
                super->MaxCapacityBytes, super->AverageEntryBytes, super->SegmentBytes, super->PartitionCount, super->MaxSegments)!;
        }
    }

    private void ExpectWorking()
    {
        for (int i = 0; i < 20_000; i++)
        {
            Assert.True(Cache.Set($"{i}", BitConverter.GetBytes(i).Concat(new byte[1000]).ToArray()));
            Assert.Equal(i, BitConverter.ToInt32(Cache.Get($"{i}")));
        }

        StoreAudit.Check(Store);
    }

    private delegate void SpanAction(Span<byte> block);
}
