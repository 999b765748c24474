using System.Buffers.Binary;

namespace Cairn.Protocol;

/// <summary>Requests of the binary protocol, their limits, and the headers of replies.</summary>
public class MemcachedBinaryTests
{
    [Fact]
    public void Set_has_flags_expiration_version_key_and_value()
    {
        byte[] input = Request(0x11, [0, 0, 0, 7, 0, 0, 0, 60], "book"u8, "Dune"u8);

        var status = MemcachedBinary.TryRead(input, out var request, out int consumed);

        Assert.Equal((ParseStatus.Complete, input.Length), (status, consumed));
        Assert.Equal((MemcachedCommand.Set, true, 7u, 60u), (request.Command, request.IsQuiet, request.ClientFlags, request.ExpirationSeconds));
        Assert.Equal((0x0102030405060708UL, 0x0A0B0C0Du), (request.Version, request.Opaque));
        Assert.Equal("book"u8, request.Key.Of(input));
        Assert.Equal("Dune"u8, request.Value.Of(input));
    }

    [Fact]
    public void Increment_creates_a_number_unless_its_expiration_is_the_largest()
    {
        byte[] creating = Request(0x05, [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 60], "n"u8, []);
        byte[] strict = Request(0x06, [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 9, 0xFF, 0xFF, 0xFF, 0xFF], "n"u8, []);

        MemcachedBinary.TryRead(creating, out var increment, out _);
        MemcachedBinary.TryRead(strict, out var decrement, out _);

        Assert.Equal((MemcachedCommand.Incr, 5UL, 9UL, true), (increment.Command, increment.Delta, increment.InitialValue, increment.CreatesNumber));
        Assert.Equal((MemcachedCommand.Decr, false), (decrement.Command, decrement.CreatesNumber));
    }

    [Fact]
    public void Length_of_an_incomplete_request_is_known_from_its_header()
    {
        byte[] input = Request(0x01, new byte[8], "book"u8, "Dune"u8);

        Assert.Equal(ParseStatus.Incomplete, MemcachedBinary.TryRead(input.AsSpan(0, 23), out _, out _));
        Assert.Equal(ParseStatus.Incomplete, MemcachedBinary.TryRead(input.AsSpan(0, 24), out var head, out _));
        Assert.Equal(ParseStatus.IncompleteValue, MemcachedBinary.TryRead(input.AsSpan(0, 36), out var value, out _));
        Assert.Equal((36, 40L, 4L), (head.HeadBytes, value.TotalBytes, value.SkipBytes));
    }

    [Fact]
    public void Value_of_four_gibibytes_is_incomplete_and_can_be_skipped()
    {
        byte[] input = Request(0x01, new byte[8], "k"u8, []);
        BinaryPrimitives.WriteUInt32BigEndian(input.AsSpan(8), uint.MaxValue);

        var status = MemcachedBinary.TryRead(input, out var request, out _);

        Assert.Equal((ParseStatus.IncompleteValue, uint.MaxValue - 9L), (status, request.SkipBytes));
        Assert.True(request.TotalBytes <= int.MaxValue);
    }

    [Theory]
    [InlineData(0x50, 0x81, false)]
    [InlineData(0x1F, 0x81, false)]
    [InlineData(0x0A, 0x04, true)]
    [InlineData(0x01, 0x04, true)]
    public void Opcode_that_is_unknown_is_skipped_and_one_with_wrong_parts_ends_the_connection(byte opcode, int error, bool isFatal)
    {
        byte[] input = Request(opcode, [], "key"u8, []);

        var status = MemcachedBinary.TryRead(input, out var request, out int consumed);

        Assert.Equal((isFatal ? ParseStatus.Fatal : ParseStatus.Malformed, error), (status, (int)request.Error));
        Assert.Equal(isFatal ? 0 : input.Length, consumed + request.SkipBytes);
    }

    [Fact]
    public void Key_has_at_most_250_bytes()
    {
        Assert.Equal(ParseStatus.Complete, MemcachedBinary.TryRead(Request(0, [], new byte[250], []), out _, out _));
        Assert.Equal(ParseStatus.Fatal, MemcachedBinary.TryRead(Request(0, [], new byte[251], []), out var request, out _));
        Assert.Equal(MemcachedStatus.InvalidArguments, request.Error);
    }

    [Fact]
    public void Other_first_byte_is_fatal_without_a_reply()
    {
        var status = MemcachedBinary.TryRead("get a\r\n"u8, out var request, out _);

        Assert.Equal((ParseStatus.Fatal, MemcachedStatus.Success), (status, request.Error));
    }

    [Fact]
    public void Reply_repeats_opcode_and_opaque()
    {
        MemcachedBinary.TryRead(Request(0x0C, [], "a"u8, []), out var request, out _);
        byte[] header = new byte[MemcachedBinary.HeaderBytes];

        MemcachedBinary.WriteHeader(header, request, MemcachedStatus.NotFound, new MemcachedBody(4, 1, 9), 0x1122);

        Assert.Equal("810C00010400000100000009" + "0A0B0C0D" + "0000000000001122", Convert.ToHexString(header));
    }

    private static byte[] Request(byte opcode, ReadOnlySpan<byte> extras, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        byte[] header = new byte[24];
        header[0] = 0x80;
        header[1] = opcode;
        BinaryPrimitives.WriteUInt16BigEndian(header.AsSpan(2), (ushort)key.Length);
        header[4] = (byte)extras.Length;
        BinaryPrimitives.WriteInt32BigEndian(header.AsSpan(8), extras.Length + key.Length + value.Length);
        BinaryPrimitives.WriteUInt32BigEndian(header.AsSpan(12), 0x0A0B0C0D);
        BinaryPrimitives.WriteUInt64BigEndian(header.AsSpan(16), 0x0102030405060708);
        return [.. header, .. extras, .. key, .. value];
    }
}
