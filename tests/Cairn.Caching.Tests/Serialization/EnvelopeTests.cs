using System.Buffers.Binary;
using Cairn.Caching.Serialization;
using Cairn.Caching.Tagging;

namespace Cairn.Caching.Tests.Serialization;

/// <summary>The content of an envelope, and the refusal of everything else. I1 to I4 are those of Envelope.</summary>
public sealed class EnvelopeTests : SerializationTest
{
    private const int VersionAt = 4;

    private static readonly EnvelopeHeader FullHeader = new()
    {
        CreatedAt = 1_700_000_000_000,
        FreshUntil = 1_700_000_300_000,
        UsableUntil = long.MaxValue,
        SlidingMs = 60_000,
        ETag = "W/\"a7\"",
        LastModified = new(2026, 2, 3, 4, 5, 6, TimeSpan.FromHours(2)),
        Tags = new([new("author:frank", 1), new("höhle", 2)], [11, ulong.MaxValue]),
    };

    public static TheoryData<string, byte[]> Samples => new()
    {
        { "text", Write("Dune") },
        { "empty text", Write("") },
        { "null", Write<string?>(null) },
        { "number", Write(42) },
        { "compressed", Write(new string('a', 10_000)) },
        { "everything", Write("Dune", header: FullHeader) },
    };

    [Fact]
    public void Everything_in_the_header_comes_back()
    {
        byte[] envelope = Write("Dune", header: FullHeader);

        EnvelopeStatus status = Default.TryRead(envelope, Key, Default.Of<string>(), out EnvelopeHeader header, out string? value);

        Assert.Equal(EnvelopeStatus.Ok, status);
        Assert.Equal("Dune", value);
        Assert.Equal((byte)CairnFormat.Raw, header.Format);
        Assert.Equal(FullHeader.CreatedAt, header.CreatedAt);
        Assert.Equal(FullHeader.FreshUntil, header.FreshUntil);
        Assert.Equal(FullHeader.UsableUntil, header.UsableUntil);
        Assert.Equal(FullHeader.SlidingMs, header.SlidingMs);
        Assert.Equal(FullHeader.ETag, header.ETag);
        Assert.Equal(FullHeader.LastModified, header.LastModified);
        Assert.Equal(4, header.PayloadBytes);
        Assert.Equal([("author:frank", 11UL), ("höhle", ulong.MaxValue)], TagsOf(header));
    }

    [Fact]
    public void Setting_that_is_not_given_is_absent()
    {
        Default.TryRead(Write("Dune"), Key, Default.Of<string>(), out EnvelopeHeader header, out string? _);

        Assert.Equal(EnvelopeFlags.None, header.Flags);
        Assert.Equal(0, header.SlidingMs);
        Assert.Null(header.ETag);
        Assert.Null(header.LastModified);
        Assert.Empty(TagsOf(header));
    }

    [Fact]
    public void Layout_is_the_documented_one()
    {
        byte[] envelope = Write("Dune", header: FullHeader with { Tags = null, ETag = null, LastModified = null });

        Assert.Equal([0xFE, 0x43, 0x52, 0x4E, 1, (byte)CairnFormat.Raw, (byte)EnvelopeFlags.Sliding, 0], envelope[..8]);
        Assert.Equal(TypeId.Of(typeof(string)), BinaryPrimitives.ReadUInt64LittleEndian(envelope.AsSpan(16)));
        Assert.Equal(FullHeader.CreatedAt, BinaryPrimitives.ReadInt64LittleEndian(envelope.AsSpan(24)));
        Assert.Equal(FullHeader.FreshUntil, BinaryPrimitives.ReadInt64LittleEndian(envelope.AsSpan(32)));
        Assert.Equal(FullHeader.UsableUntil, BinaryPrimitives.ReadInt64LittleEndian(envelope.AsSpan(40)));
        Assert.Equal(4, BinaryPrimitives.ReadInt32LittleEndian(envelope.AsSpan(48)));
        Assert.Equal(8, BinaryPrimitives.ReadInt32LittleEndian(envelope.AsSpan(52)));
        Assert.Equal(FullHeader.SlidingMs, BinaryPrimitives.ReadInt64LittleEndian(envelope.AsSpan(56)));
        Assert.Equal("Dune"u8, envelope.AsSpan(64));
    }

    // A change here makes all stored values unreadable: it needs another version number.
    [Fact]
    public void Bytes_of_version_1_never_change()
    {
        byte[] envelope = Write("Dune", header: FullHeader);

        Assert.Equal(
            "FE43524E01013C00" +
            "303D641760224762" +
            "D972DD0BB981952D" +
            "0068E5CF8B010000" +
            "E0FBE9CF8B010000" +
            "FFFFFFFFFFFFFF7F" +
            "0400000040000000" +
            "60EA000000000000" +
            "007586A6C862DE08" +
            "0600572F22613722" +
            "02000B000000000000000C00617574686F723A6672616E6BFFFFFFFFFFFFFFFF060068C3B6686C6544756E65",
            Convert.ToHexString(envelope));
    }

    [Theory]
    [MemberData(nameof(Samples))]
    public void Every_flipped_bit_is_noticed(string name, byte[] envelope)
    {
        for (int bit = 0; bit < envelope.Length * 8; bit++)
        {
            byte[] damaged = [.. envelope];
            damaged[bit / 8] ^= (byte)(1 << (bit % 8));

            Assert.False(IsReadable(damaged), $"{name}: bit {bit}");
        }
    }

    [Theory]
    [MemberData(nameof(Samples))]
    public void Every_truncation_and_every_addition_is_noticed(string name, byte[] envelope)
    {
        for (int length = 0; length < envelope.Length; length++)
        {
            Assert.False(IsReadable(envelope[..length]), $"{name}: {length} bytes of {envelope.Length}");
        }

        for (byte added = 0; added < 3; added++)
        {
            Assert.False(IsReadable([.. envelope, added]), $"{name}: {added} at the end");
        }
    }

    [Theory]
    [MemberData(nameof(Samples))]
    public void Value_under_another_key_is_damaged(string name, byte[] envelope)
    {
        foreach (string other in new[] { "", "book:43", "Book:42", "book:42 " })
        {
            EnvelopeStatus status = Envelope.TryRead(envelope, other, 0, out _, out _);

            Assert.True(status == EnvelopeStatus.Damaged, $"{name}: {status} under {other}");
        }
    }

    [Theory]
    [InlineData("")]
    [InlineData("þ")]
    [InlineData("{\"Id\":1}")]
    [InlineData("þCRN")]
    public void Foreign_data_is_not_an_envelope(string text)
    {
        Assert.Equal(EnvelopeStatus.NotCairn, Read<string>(System.Text.Encoding.Latin1.GetBytes(text), out _));
        Assert.Equal(EnvelopeStatus.NotCairn, Read<string>(System.Text.Encoding.UTF8.GetBytes(text), out _));
    }

    // I1
    [Theory]
    [InlineData(2)]
    [InlineData(255)]
    public void Envelope_of_a_later_version_is_distinguished_from_damage(byte version)
    {
        byte[] envelope = Write("Dune");
        envelope[VersionAt] = version;

        Assert.Equal(EnvelopeStatus.NewerVersion, Read<string>(envelope, out _));
        Assert.Equal(EnvelopeStatus.NewerVersion, Read<string>(envelope[..5], out _));
    }

    [Fact]
    public void Value_of_another_type_is_not_given_out()
    {
        Assert.Equal(EnvelopeStatus.OtherType, Read<int>(Write("Dune"), out _));
        Assert.Equal(EnvelopeStatus.OtherType, Read<string>(Write(42), out _));
        Assert.Equal(EnvelopeStatus.OtherType, Read<uint>(Write(42), out _));
        Assert.Equal(EnvelopeStatus.OtherType, Read<List<string>>(Write(new List<int>()), out _));
        Assert.Equal(EnvelopeStatus.OtherType, Read<DayOfWeek>(Write(TypeCode.Int32), out _));
    }

    [Fact]
    public void Null_is_null_for_types_that_can_be_and_another_type_for_others()
    {
        Assert.Equal(EnvelopeStatus.Ok, Read(Write<string?>(null), out string? text));
        Assert.Null(text);
        Assert.Equal(EnvelopeStatus.Ok, Read(Write<int?>(null), out int? number));
        Assert.Null(number);
        Assert.Equal(EnvelopeStatus.OtherType, Read<int>(Write<int?>(null), out _));
    }

    [Fact]
    public void Nullable_and_plain_values_are_the_same_type()
    {
        Assert.Equal(EnvelopeStatus.Ok, Read(Write<int?>(42), out int plain));
        Assert.Equal(42, plain);
        Assert.Equal(EnvelopeStatus.Ok, Read(Write(42), out int? nullable));
        Assert.Equal(42, nullable);
    }

    [Fact]
    public void Serialized_value_gets_the_same_envelope_as_the_value_itself()
    {
        Codec<List<string>> codec = Default.Of<List<string>>();
        List<string> value = ["Dune", new string('x', 20_000)];
        byte[] direct = Write(value);
        using var buffer = new PooledBuffer();

        Assert.Equal(EnvelopeStatus.Ok, Default.TryReadPayload(direct, Key, codec, out _, out LocalPayload? payload));
        Assert.True(Default.TryWrite(buffer, Key, PlainHeader, payload!));

        Assert.Equal(direct, buffer.WrittenSpan);
        Assert.Equal(value, Default.Copy(codec, payload!));
    }

    // A JSON object can be read as nearly any type, without content.
    [Fact]
    public void Kept_payload_is_not_copied_as_another_type()
    {
        Default.TryReadPayload(Write(new CodecChoiceTests.Base { Id = 7 }), Key, Default.Of<CodecChoiceTests.Base>(), out _, out LocalPayload? payload);

        Assert.Equal(7, Default.Copy(Default.Of<CodecChoiceTests.Base>(), payload!).Id);
        Assert.Throws<InvalidDataException>(() => Default.Copy(Default.Of<CodecChoiceTests.Generated>(), payload!));
        Assert.Throws<InvalidDataException>(() => Default.Copy(Default.Of<CodecChoiceTests.Base>(), payload! with { Format = (byte)CairnFormat.Xml }));
    }

    [Fact]
    public void Kept_payload_knows_what_it_takes_on_the_heap()
    {
        _ = new LocalPayload(new byte[1], 1, 1).HeapBytes;
        long before = GC.GetAllocatedBytesForCurrentThread();
        var payload = new LocalPayload(new byte[1001], 1, 1);
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;

        Assert.Equal(allocated, payload.HeapBytes);
    }

    [Fact]
    public void Tag_that_is_no_text_is_refused()
    {
        foreach (string name in new[] { "\uD800", "a\uDC00b" })
        {
            var header = new EnvelopeHeader { Tags = new TagStamps([new Tag(name, 1)], [1]) };
            using var buffer = new PooledBuffer();

            Assert.Throws<System.Text.EncoderFallbackException>(() => Default.TryWrite(buffer, Key, header, Default.Of<string>(), "Dune"));
        }
    }

    [Theory]
    [InlineData(ushort.MaxValue, true)]
    [InlineData(ushort.MaxValue + 1, false)]
    public void Tag_has_at_most_65535_bytes(int bytes, bool isAccepted)
    {
        var header = new EnvelopeHeader { Tags = new TagStamps([new Tag(new string('t', bytes), 1)], [1]) };
        using var buffer = new PooledBuffer();

        Exception? refused = Record.Exception(() => Default.TryWrite(buffer, Key, header, Default.Of<string>(), "Dune"));

        Assert.Equal(isAccepted, refused is null);
        Assert.True(refused is null or ArgumentException);
    }

    [Fact]
    public void Reading_the_envelope_of_text_allocates_only_the_text()
    {
        byte[] envelope = Write(new string('a', 100));
        Codec<string> codec = Default.Of<string>();
        for (int warm = 0; warm < 100; warm++)
        {
            Default.TryRead(envelope, Key, codec, out _, out string? _);
        }

        long before = GC.GetAllocatedBytesForCurrentThread();
        Default.TryRead(envelope, Key, codec, out _, out string? text);
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;

        Assert.Equal(codec.EstimateBytes(text!), allocated);
    }

    private static bool IsReadable(byte[] envelope)
    {
        // The type is not under test here.
        EnvelopeStatus status = Envelope.TryRead(envelope, Key, 0, out _, out _);
        return status is EnvelopeStatus.Ok or EnvelopeStatus.OtherType;
    }

    private static List<(string Name, ulong Stamp)> TagsOf(in EnvelopeHeader header)
    {
        var tags = new List<(string, ulong)>();
        foreach (EnvelopeTag tag in header.StoredTags)
        {
            tags.Add((tag.Name, tag.Stamp));
        }

        Assert.Equal(header.StoredTags.Count, tags.Count);
        return tags;
    }
}
