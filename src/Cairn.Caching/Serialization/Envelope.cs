using Cairn.Caching.Hashing;
using Cairn.Caching.Tagging;

namespace Cairn.Caching.Serialization;

// The format of a value in the second level. All numbers are little-endian; times are Unix milliseconds.
//
//    0  magic FE 43 52 4E ("þCRN" in Latin-1; no UTF-8 text begins with it)
//    4  version, 1
//    5  format: a CairnFormat
//    6  flags, 2 bytes: EnvelopeFlags
//    8  checksum, 8 bytes
//   16  type: TypeId of the value's type
//   24  created
//   32  fresh until         \  7FFF FFFF FFFF FFFF: no limit
//   40  usable until        /
//   48  length of the payload before compression, 4 bytes
//   52  length of the fields that follow, 4 bytes
//   56  fields, in this order, each if its flag is set:
//         sliding        8 bytes, milliseconds
//         last modified  8 bytes, ticks of UTC
//         etag           2 bytes of length, UTF-8
//         tags           2 bytes of number, then for each: stamp 8 bytes, 2 bytes of length, UTF-8
//       payload, to the end
//
//   I1  Magic and version have the same place in every version, so that each version recognizes newer ones.
//   I2  The checksum covers every other byte, the total length, and the key: a value that lies under a key for which it was not written
//       is damaged.
//   I3  No field except those of I1 is used before the checksum is verified. All fields are checked against limits nevertheless, because a
//       checksum does not protect against deliberate changes.
//   I4  A flag that is not in EnvelopeFlags.All makes an envelope damaged: a later version that adds a flag has another version number.
internal static class Envelope
{
    public const byte Version = 1;

    /// <summary>The length of the part before the fields, in bytes.</summary>
    public const int FixedBytes = 56;

    private const uint Magic = 0x4E52_43FE;
    private const ulong Seed = 0x454E_5645_4C4F_5045; // Part of what is stored.

    private const int VersionAt = 4;
    private const int FormatAt = 5;
    private const int FlagsAt = 6;
    private const int ChecksumAt = 8;
    private const int CoveredAt = 16;
    private const int TypeIdAt = 16;
    private const int CreatedAt = 24;
    private const int FreshUntilAt = 32;
    private const int UsableUntilAt = 40;
    private const int PayloadBytesAt = 48;
    private const int FieldsBytesAt = 52;

    // Strict, because text that is not valid Unicode would be read back differently.
    private static readonly UTF8Encoding StrictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>Begins an envelope in an empty buffer. The caller then writes the payload and calls <see cref="End"/>.</summary>
    /// <returns>The position of the payload.</returns>
    /// <exception cref="ArgumentException">
    /// A tag or the ETag is not valid Unicode or is longer than 65,535 bytes, or there are more than 65,535 tags.
    /// </exception>
    public static int Begin(PooledBuffer target, in EnvelopeHeader header)
    {
        Debug.Assert(target.WrittenBytes == 0, "An envelope is alone in its buffer.");

        EnvelopeFlags flags = header.Flags & EnvelopeFlags.Null;
        Span<byte> fixedPart = target.GetSpan(FixedBytes)[..FixedBytes];
        BinaryPrimitives.WriteUInt32LittleEndian(fixedPart, Magic);
        fixedPart[VersionAt] = Version;
        fixedPart[FormatAt] = header.Format;
        BinaryPrimitives.WriteUInt64LittleEndian(fixedPart[TypeIdAt..], header.TypeId);
        BinaryPrimitives.WriteInt64LittleEndian(fixedPart[CreatedAt..], header.CreatedAt);
        BinaryPrimitives.WriteInt64LittleEndian(fixedPart[FreshUntilAt..], header.FreshUntil);
        BinaryPrimitives.WriteInt64LittleEndian(fixedPart[UsableUntilAt..], header.UsableUntil);
        target.Advance(FixedBytes);

        if (header.SlidingMs != 0)
        {
            flags |= EnvelopeFlags.Sliding;
            WriteInt64(target, header.SlidingMs);
        }

        if (header.LastModified is { } lastModified)
        {
            flags |= EnvelopeFlags.LastModified;
            WriteInt64(target, lastModified.UtcTicks);
        }

        if (header.ETag is { } etag)
        {
            flags |= EnvelopeFlags.ETag;
            WriteText(target, etag);
        }

        if (header.Tags is { Tags.Length: > 0 } tags)
        {
            flags |= EnvelopeFlags.Tags;
            WriteTags(target, tags);
        }

        Span<byte> written = target.Written;
        BinaryPrimitives.WriteUInt16LittleEndian(written[FlagsAt..], (ushort)flags);
        BinaryPrimitives.WriteInt32LittleEndian(written[FieldsBytesAt..], target.WrittenBytes - FixedBytes);
        return target.WrittenBytes;
    }

    /// <summary>Completes an envelope. Its buffer must not change afterwards.</summary>
    /// <param name="target">The envelope with its payload.</param>
    /// <param name="key">The key under which it will be stored.</param>
    /// <param name="payloadBytes">The length of the payload before compression.</param>
    /// <param name="isCompressed">Whether the payload in the buffer is compressed.</param>
    public static void End(PooledBuffer target, ReadOnlySpan<char> key, int payloadBytes, bool isCompressed)
    {
        Span<byte> bytes = target.Written;
        if (isCompressed)
        {
            bytes[FlagsAt] |= (byte)EnvelopeFlags.Compressed;
        }

        BinaryPrimitives.WriteInt32LittleEndian(bytes[PayloadBytesAt..], payloadBytes);
        Seal(bytes, key);
    }

    /// <summary>Writes the checksum of the envelope's present content.</summary>
    public static void Seal(Span<byte> envelope, ReadOnlySpan<char> key) =>
        BinaryPrimitives.WriteUInt64LittleEndian(envelope[ChecksumAt..], ChecksumOf(envelope, key));

    /// <summary>Reads an envelope. The payload is still compressed if the header says so.</summary>
    /// <param name="bytes">The complete stored bytes. The payload and the header's tags are parts of them.</param>
    /// <param name="key">The key under which they were stored.</param>
    /// <param name="typeId">The expected type.</param>
    /// <param name="header">The header, complete if the result is Ok or OtherType.</param>
    /// <param name="payload">The serialized value, or its compressed form.</param>
    public static EnvelopeStatus TryRead(
        ReadOnlyMemory<byte> bytes, ReadOnlySpan<char> key, ulong typeId, out EnvelopeHeader header, out ReadOnlyMemory<byte> payload)
    {
        header = default;
        payload = default;
        ReadOnlySpan<byte> span = bytes.Span;

        if (span.Length <= VersionAt || BinaryPrimitives.ReadUInt32LittleEndian(span) != Magic || span[VersionAt] == 0)
        {
            return EnvelopeStatus.NotCairn;
        }

        if (span[VersionAt] > Version)
        {
            return EnvelopeStatus.NewerVersion; // I1
        }

        // I3
        if (span.Length < FixedBytes || BinaryPrimitives.ReadUInt64LittleEndian(span[ChecksumAt..]) != ChecksumOf(span, key))
        {
            return EnvelopeStatus.Damaged;
        }

        int fieldsBytes = BinaryPrimitives.ReadInt32LittleEndian(span[FieldsBytesAt..]);
        header.Format = span[FormatAt];
        header.Flags = (EnvelopeFlags)BinaryPrimitives.ReadUInt16LittleEndian(span[FlagsAt..]);
        header.TypeId = BinaryPrimitives.ReadUInt64LittleEndian(span[TypeIdAt..]);
        header.CreatedAt = BinaryPrimitives.ReadInt64LittleEndian(span[CreatedAt..]);
        header.FreshUntil = BinaryPrimitives.ReadInt64LittleEndian(span[FreshUntilAt..]);
        header.UsableUntil = BinaryPrimitives.ReadInt64LittleEndian(span[UsableUntilAt..]);
        header.PayloadBytes = BinaryPrimitives.ReadInt32LittleEndian(span[PayloadBytesAt..]);

        if ((uint)fieldsBytes > (uint)(span.Length - FixedBytes)
            || !IsPayloadLengthRight(header, span.Length - FixedBytes - fieldsBytes)
            || ((header.Flags & ~EnvelopeFlags.Null & ~EnvelopeFlags.Compressed) != 0
                ? !TryReadFields(bytes.Slice(FixedBytes, fieldsBytes), ref header)
                : fieldsBytes != 0))
        {
            header = default;
            return EnvelopeStatus.Damaged;
        }

        payload = bytes[(FixedBytes + fieldsBytes)..];
        return header.TypeId == typeId ? EnvelopeStatus.Ok : EnvelopeStatus.OtherType;
    }

    /// <summary>Returns the length of header and fields; 0 for bytes that do not begin with a complete header of this version and its fields.</summary>
    public static int HeadBytes(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < FixedBytes || BinaryPrimitives.ReadUInt32LittleEndian(bytes) != Magic || bytes[VersionAt] != Version)
        {
            return 0;
        }

        int fieldsBytes = BinaryPrimitives.ReadInt32LittleEndian(bytes[FieldsBytesAt..]);
        return (uint)fieldsBytes <= (uint)(bytes.Length - FixedBytes) ? FixedBytes + fieldsBytes : 0;
    }

    private static bool IsPayloadLengthRight(in EnvelopeHeader header, int storedBytes)
    {
        if (header.IsNull)
        {
            return storedBytes == 0 && header.PayloadBytes == 0 && !header.IsCompressed;
        }

        // The compressed form is kept only if it is shorter.
        return header.IsCompressed ? header.PayloadBytes > storedBytes : header.PayloadBytes == storedBytes;
    }

    private static bool TryReadFields(ReadOnlyMemory<byte> fields, ref EnvelopeHeader header)
    {
        if ((header.Flags & ~EnvelopeFlags.All) != 0)
        {
            return false; // I4
        }

        ReadOnlySpan<byte> rest = fields.Span;
        if ((header.Flags & EnvelopeFlags.Sliding) != 0)
        {
            if (!TryReadInt64(ref rest, out header.SlidingMs) || header.SlidingMs <= 0)
            {
                return false;
            }
        }

        if ((header.Flags & EnvelopeFlags.LastModified) != 0)
        {
            if (!TryReadInt64(ref rest, out long ticks) || (ulong)ticks > (ulong)DateTime.MaxValue.Ticks)
            {
                return false;
            }

            header.LastModified = new(ticks, TimeSpan.Zero);
        }

        if ((header.Flags & EnvelopeFlags.ETag) != 0)
        {
            if (!TryReadText(ref rest, out ReadOnlySpan<byte> etag))
            {
                return false;
            }

            header.ETag = Encoding.UTF8.GetString(etag);
        }

        if ((header.Flags & EnvelopeFlags.Tags) != 0)
        {
            if (!TryReadTags(ref rest, fields, out header.StoredTags))
            {
                return false;
            }
        }

        return rest.IsEmpty;
    }

    private static bool TryReadTags(ref ReadOnlySpan<byte> rest, ReadOnlyMemory<byte> fields, out EnvelopeTags tags)
    {
        tags = default;
        if (rest.Length < sizeof(ushort))
        {
            return false;
        }

        int count = BinaryPrimitives.ReadUInt16LittleEndian(rest);
        rest = rest[sizeof(ushort)..];
        int begin = fields.Length - rest.Length;
        for (int tag = 0; tag < count; tag++)
        {
            if (!TryReadInt64(ref rest, out _) || !TryReadText(ref rest, out _))
            {
                return false;
            }
        }

        tags = new(fields[begin..(fields.Length - rest.Length)], count);
        return count > 0;
    }

    private static bool TryReadInt64(ref ReadOnlySpan<byte> rest, out long value)
    {
        if (!BinaryPrimitives.TryReadInt64LittleEndian(rest, out value))
        {
            return false;
        }

        rest = rest[sizeof(long)..];
        return true;
    }

    private static bool TryReadText(ref ReadOnlySpan<byte> rest, out ReadOnlySpan<byte> utf8)
    {
        utf8 = default;
        if (!BinaryPrimitives.TryReadUInt16LittleEndian(rest, out ushort length) || length > rest.Length - sizeof(ushort))
        {
            return false;
        }

        utf8 = rest.Slice(sizeof(ushort), length);
        rest = rest[(sizeof(ushort) + length)..];
        return true;
    }

    private static void WriteTags(PooledBuffer target, TagStamps tags)
    {
        if (tags.Tags.Length > ushort.MaxValue)
        {
            throw new ArgumentException($"An entry has {tags.Tags.Length} tags; it can have {ushort.MaxValue}.", nameof(tags));
        }

        BinaryPrimitives.WriteUInt16LittleEndian(target.GetSpan(sizeof(ushort)), (ushort)tags.Tags.Length);
        target.Advance(sizeof(ushort));
        for (int tag = 0; tag < tags.Tags.Length; tag++)
        {
            WriteInt64(target, (long)tags.Stamps[tag]);
            WriteText(target, tags.Tags[tag].Name);
        }
    }

    private static void WriteInt64(PooledBuffer target, long value)
    {
        BinaryPrimitives.WriteInt64LittleEndian(target.GetSpan(sizeof(long)), value);
        target.Advance(sizeof(long));
    }

    private static void WriteText(PooledBuffer target, string text)
    {
        int length = StrictUtf8.GetByteCount(text);
        if (length > ushort.MaxValue)
        {
            throw new ArgumentException($"A tag or an ETag has {length} bytes; it can have {ushort.MaxValue}.", nameof(text));
        }

        Span<byte> bytes = target.GetSpan(sizeof(ushort) + length);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes, (ushort)length);
        StrictUtf8.GetBytes(text, bytes[sizeof(ushort)..]);
        target.Advance(sizeof(ushort) + length);
    }

    // I2. The key and the eight bytes before the checksum form the seed for the bytes behind it.
    private static ulong ChecksumOf(ReadOnlySpan<byte> envelope, ReadOnlySpan<char> key)
    {
        ulong seed = Hash64.Combine(Hash64.Of(key, Seed), BinaryPrimitives.ReadUInt64LittleEndian(envelope));
        return Hash64.Of(envelope[CoveredAt..], seed);
    }
}
