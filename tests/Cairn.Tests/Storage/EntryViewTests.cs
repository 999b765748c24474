using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn.Tests.Storage;

/// <summary>The layout of an entry in a segment.</summary>
public sealed unsafe class EntryViewTests : IDisposable
{
    private const int BufferBytes = 256 * 1024;
    private const ulong Seed = 99;

    private readonly byte* _buffer =
        (byte*)System.Runtime.InteropServices.NativeMemory.AlignedAlloc(BufferBytes, 64);

    public void Dispose() => System.Runtime.InteropServices.NativeMemory.AlignedFree(_buffer);

    public static TheoryData<int> AllFields => [.. Enumerable.Range(0, 64)];

    [Theory]
    [MemberData(nameof(AllFields))]
    public void Written_entry_is_read_with_every_combination_of_fields(int choice)
    {
        foreach ((int keyLength, int valueLength) in ((int, int)[])[(1, 0), (7, 1), (100, 1000), (65_536, 3)])
        {
            EntryView entry = Write(choice, keyLength, valueLength, out EntryContent content, out uint collection);

            Assert.Equal(keyLength, entry.KeyLength);
            Assert.Equal((uint)valueLength, entry.ValueLength);
            Assert.Equal(EntryType.Value, entry.Type);
            Assert.Equal(123_456ul, entry.Version);
            Assert.Equal(content.Flags, entry.Flags);
            Assert.Equal(content.ChosenVersion, entry.ChosenVersion);
            Assert.Equal(collection, entry.Collection);
            Assert.Equal(content.Expiration.Deadline, entry.AbsoluteDeadline);
            Assert.Equal(content.Expiration.SlidingMs, entry.SlidingIntervalMs);
            Assert.Equal(content.Expiration.EarliestDeadline, entry.Deadline);
            Assert.Equal(TestBytes.Of(keyLength), new Span<byte>(entry.Key, keyLength).ToArray());
            Assert.Equal(TestBytes.Of(valueLength, seed: 2), new Span<byte>(entry.Value, valueLength).ToArray());
            Assert.Equal(EntryView.SizeOf(entry.Fields, keyLength, valueLength), entry.PaddedBytes);
            Assert.Equal(0, entry.PaddedBytes % EntryView.Alignment);
            Assert.True(entry.IsWithin(entry.UnpaddedBytes));
            Assert.False(entry.IsWithin(entry.UnpaddedBytes - 1));
            Assert.Equal(entry.Checksum, entry.ComputeChecksum(HashOfKey(keyLength), Seed));
            if (content.HasLease)
            {
                Assert.Equal((7u, 8u, 9L), (entry.LeaseOwner, entry.LeaseIncarnation, entry.LeaseDeadline));
            }
        }
    }

    [Theory]
    [MemberData(nameof(AllFields))]
    public void Any_flipped_bit_is_noticed(int choice)
    {
        EntryView written = Write(choice, 20, 50, out _, out _);
        int unpadded = (int)written.UnpaddedBytes;
        bool isSliding = (written.Fields & EntryFields.Sliding) != 0;
        long sliding = isSliding ? (byte*)written.SlidingWord - _buffer : -8;
        for (int bit = 0; bit < unpadded * 8; bit++)
        {
            _buffer[bit / 8] ^= (byte)(1 << (bit % 8));
            var entry = new EntryView(_buffer);

            // The key is compared with the requested one; the sliding word has its own check.
            bool isNoticed = !entry.IsWithin(BufferBytes)
                || entry.ValueLength > BufferBytes / 2
                || !entry.KeyEquals(KeyBytes(), 20)
                || entry.ComputeChecksum(HashOfKey(20), Seed) != entry.Checksum
                || (bit / 8 >= sliding && bit / 8 < sliding + 8 && entry.Deadline == 0);

            Assert.True(isNoticed, $"bit {bit}, fields {written.Fields}");
            _buffer[bit / 8] ^= (byte)(1 << (bit % 8));
        }
    }

    /// <summary>Arm64 fails at an atomic access of 8 bytes that is not aligned.</summary>
    [Fact]
    public void Sliding_word_lies_at_a_multiple_of_its_size_whatever_other_fields_there_are()
    {
        var fields = Enumerable.Range(0, 256).Select(bits => (EntryFields)bits).Where(bits => (bits & EntryFields.Sliding) != 0).ToList();

        Assert.NotEmpty(fields);
        Assert.All(fields, bits => Assert.Equal(0, EntryView.OffsetOf(bits, EntryFields.Sliding) % sizeof(ulong)));
        Assert.Equal(0, EntryView.Alignment % sizeof(ulong));
    }

    [Fact]
    public void Gap_is_exactly_as_long_as_it_was_made()
    {
        for (long bytes = 24; bytes < 5000; bytes += 8)
        {
            *(ulong*)_buffer = EntryView.GapWord(bytes);
            var gap = new EntryView(_buffer);

            Assert.Equal(EntryType.None, gap.Type);
            Assert.Equal(bytes, gap.PaddedBytes);
            Assert.True(gap.IsWithin(bytes));
        }
    }

    [Fact]
    public void Longest_lengths_do_not_overflow()
    {
        new Span<byte>(_buffer, 64).Fill(0xFF);
        var entry = new EntryView(_buffer);

        Assert.Equal(65_536, entry.KeyLength);
        Assert.True(entry.UnpaddedBytes > uint.MaxValue);
        _buffer[3] = 0;
        Assert.False(new EntryView(_buffer).IsWithin(1L << 32));
        Assert.True(new EntryView(_buffer).IsWithin(long.MaxValue));
    }

    [Theory]
    [InlineData(0L)]
    [InlineData(1L)]
    [InlineData(1_900_000_000_000L)]
    [InlineData((1L << 48) - 1)]
    public void Sliding_word_keeps_its_deadline_and_notices_damage(long deadline)
    {
        ulong word = EntryView.PackSliding(deadline);

        Assert.True(EntryView.TryUnpackSliding(word, out long unpacked));
        Assert.Equal(deadline, unpacked);
        for (int bit = 0; bit < 64; bit++)
        {
            Assert.False(EntryView.TryUnpackSliding(word ^ (1UL << bit), out _), $"bit {bit}");
        }
    }

    private static byte* KeyBytes()
    {
        byte[] key = GC.AllocateArray<byte>(20, pinned: true);
        TestBytes.Of(20).CopyTo(key, 0);
        return (byte*)System.Runtime.CompilerServices.Unsafe.AsPointer(ref key[0]);
    }

    private static ulong HashOfKey(int length)
    {
        fixed (byte* bytes = TestBytes.Of(length))
        {
            return KeyHash.Compute(bytes, length, 1);
        }
    }

    // The bits of the choice: flags, deadline, sliding, collection, lease, chosen version.
    private EntryView Write(int choice, int keyLength, int valueLength, out EntryContent content, out uint collection)
    {
        new Span<byte>(_buffer, BufferBytes).Fill(0xAA);
        collection = (choice & 8) != 0 ? 77u : 0;
        byte[] value = TestBytes.Of(valueLength, seed: 2);
        content = new EntryContent
        {
            Type = EntryType.Value,
            Flags = (choice & 1) != 0 ? 0xFEDC_BA98 : 0,
            Expiration = new ResolvedExpiration(
                (choice & 2) != 0 ? 2_000_000_000_000 : long.MaxValue, (choice & 4) != 0 ? 60_000 : 0, 1_900_000_000_000),
            First = value.AsSpan(0, valueLength / 2),
            Second = value.AsSpan(valueLength / 2),
            HasLease = (choice & 16) != 0,
            LeaseOwner = 7,
            LeaseIncarnation = 8,
            LeaseDeadline = 9,
            ChosenVersion = (choice & 32) != 0 ? ulong.MaxValue - 5 : 0,
        };
        fixed (byte* key = TestBytes.Of(keyLength))
        {
            var place = new KeyPlacement(HashOfKey(keyLength), KeyPlacement.PartitionShift(1), 2);
            Assert.True(content.TryWrite(_buffer, new KeyRef(key, keyLength, collection, place), 123_456, Seed));
        }

        return new EntryView(_buffer);
    }
}
