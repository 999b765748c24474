using Cairn.Storage;

namespace Cairn.Tests.Storage;

/// <summary>One cache line of the index.</summary>
public sealed unsafe class BucketTests : IDisposable
{
    private readonly Bucket* _bucket =
        (Bucket*)System.Runtime.InteropServices.NativeMemory.AlignedAlloc(64, 64);

    public BucketTests() => *_bucket = default;

    public void Dispose() => System.Runtime.InteropServices.NativeMemory.AlignedFree(_bucket);

    [Theory]
    [InlineData((ushort)1, 0UL, 8L)]
    [InlineData((ushort)0xFFFF, ulong.MaxValue, ((1L << 44) - 1) << 3)]
    [InlineData((ushort)0x8001, 0x123456789UL, 4096L)]
    public void Slot_keeps_tag_stamp_and_location(ushort tag, ulong version, long offset)
    {
        ulong slot = Bucket.Pack(tag, version, offset);

        Assert.Equal(tag, Bucket.TagOf(slot));
        Assert.Equal(offset, Bucket.LocationOf(slot));
        Assert.True(Bucket.StampMatches(slot, version));
        for (ulong other = 1; other < 16; other++)
        {
            Assert.False(Bucket.StampMatches(slot, version + other));
        }

        Assert.True(Bucket.StampMatches(slot, version + 16));
    }

    [Fact]
    public void Tag_is_found_in_exactly_the_slots_that_have_it()
    {
        for (uint mask = 0; mask < 128; mask++)
        {
            for (int i = 0; i < Bucket.Slots; i++)
            {
                *Bucket.SlotAt(_bucket, i) = Bucket.Pack((ushort)((mask >> i & 1) != 0 ? 0xABCD : 0xABCE), 1, 64);
            }

            // The metadata word looks like a slot with the tag, and must not be mistaken for one.
            _bucket->Version = 0xABCD_ABCD;
            _bucket->Frequencies = 0xABCD_ABCD;

            Assert.Equal(mask, Bucket.MatchTag(_bucket, 0xABCD));
            Assert.Equal(0u, Bucket.MatchTag(_bucket, 0x1234));
            Assert.Equal(0u, Bucket.EmptySlots(_bucket));
        }
    }

    [Fact]
    public void Empty_slots_are_those_that_are_zero()
    {
        for (uint mask = 0; mask < 128; mask++)
        {
            for (int i = 0; i < Bucket.Slots; i++)
            {
                *Bucket.SlotAt(_bucket, i) = (mask >> i & 1) != 0 ? 0 : Bucket.Pack(1, 0, 0);
            }

            Assert.Equal(mask, Bucket.EmptySlots(_bucket));
            Assert.Equal(7 - System.Numerics.BitOperations.PopCount(mask), Bucket.UsedSlots(_bucket));
        }
    }

    [Fact]
    public void Storing_a_slot_raises_the_version_and_touches_no_other_slot()
    {
        for (int i = 0; i < Bucket.Slots; i++)
        {
            uint version = _bucket->Version;
            Bucket.Store(_bucket, i, (ulong)i + 100);
            Assert.Equal(version + 1, _bucket->Version);
        }

        for (int i = 0; i < Bucket.Slots; i++)
        {
            Assert.Equal((ulong)i + 100, *Bucket.SlotAt(_bucket, i));
        }

        Assert.Equal(0u, _bucket->Frequencies);
    }

    [Fact]
    public void Replacing_a_slot_fails_if_it_is_not_what_it_was()
    {
        Bucket.Store(_bucket, 3, 100);

        Assert.True(Bucket.TryReplace(_bucket, 3, 100, 200));
        Assert.False(Bucket.TryReplace(_bucket, 3, 100, 300));

        Assert.Equal(200ul, *Bucket.SlotAt(_bucket, 3));
    }

    [Fact]
    public void Hits_are_counted_up_to_three_for_each_slot_apart()
    {
        for (int i = 0; i < Bucket.Slots; i++)
        {
            for (int hits = 0; hits < 10; hits++)
            {
                Assert.Equal(Math.Min(hits, 3), Bucket.Frequency(_bucket, i));
                Bucket.CountHit(_bucket, i);
            }
        }

        Bucket.SetFrequency(_bucket, 2, 1);
        Bucket.SetFrequency(_bucket, 6, 0);

        Assert.Equal([3, 3, 1, 3, 3, 3, 0], Enumerable.Range(0, 7).Select(FrequencyOf));
        Assert.Equal(0u, _bucket->Version);
    }

    private int FrequencyOf(int slot) => Bucket.Frequency(_bucket, slot);
}
