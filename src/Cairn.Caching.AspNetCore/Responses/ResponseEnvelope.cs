using Cairn.Caching.AspNetCore.Tagging;

namespace Cairn.Caching.AspNetCore.Responses;

// The stored form of a response: its tags with the stamps that they had, and then the bytes from the middleware.
//
//   mark u32 | tags u16 | spare u16 | tags x { stamp u64 | bytes u16 | tag in UTF-8 } | response
//
// The store's checksum detects damage. The mark detects entries that are not responses.
internal static class ResponseEnvelope
{
    /// <summary>The largest number of tags of a response.</summary>
    public const int MaxTags = ushort.MaxValue;

    /// <summary>The longest tag in bytes of UTF-8. A lease of such a tag fits into the smallest segment of any store.</summary>
    public const int MaxTagBytes = 1_024;

    private const uint Mark = 0x0143_4F43;
    private const int HeaderBytes = 8;
    private const int TagHeaderBytes = 10;

    /// <summary>Returns the size in bytes of an envelope around a response of this length.</summary>
    public static long SizeOf(ReadOnlySpan<string> tags, long responseBytes)
    {
        long bytes = HeaderBytes + responseBytes;
        foreach (string tag in tags)
        {
            bytes += TagHeaderBytes + Encoding.UTF8.GetByteCount(tag);
        }

        return bytes;
    }

    /// <summary>Writes an envelope. The target has exactly the size that <see cref="SizeOf"/> returns.</summary>
    public static void Write(Span<byte> target, ReadOnlySpan<string> tags, ReadOnlySpan<ulong> stamps, in ReadOnlySequence<byte> response)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(target, Mark);
        BinaryPrimitives.WriteUInt16LittleEndian(target[4..], (ushort)tags.Length);
        BinaryPrimitives.WriteUInt16LittleEndian(target[6..], 0);
        target = target[HeaderBytes..];
        for (int i = 0; i < tags.Length; i++)
        {
            int bytes = Encoding.UTF8.GetBytes(tags[i], target[TagHeaderBytes..]);
            BinaryPrimitives.WriteUInt64LittleEndian(target, stamps[i]);
            BinaryPrimitives.WriteUInt16LittleEndian(target[8..], (ushort)bytes);
            target = target[(TagHeaderBytes + bytes)..];
        }

        response.CopyTo(target);
    }

    /// <summary>Finds the response in an envelope.</summary>
    /// <returns>False if the bytes are not an envelope, or if one of the tags no longer has its stamp.</returns>
    public static bool TryOpen(ReadOnlySpan<byte> envelope, TagTable tags, out ReadOnlySpan<byte> response)
    {
        response = default;
        if (envelope.Length < HeaderBytes || BinaryPrimitives.ReadUInt32LittleEndian(envelope) != Mark)
        {
            return false;
        }

        int count = BinaryPrimitives.ReadUInt16LittleEndian(envelope[4..]);
        ReadOnlySpan<byte> rest = envelope[HeaderBytes..];
        for (int i = 0; i < count; i++)
        {
            if (rest.Length < TagHeaderBytes)
            {
                return false;
            }

            ulong stamp = BinaryPrimitives.ReadUInt64LittleEndian(rest);
            int bytes = BinaryPrimitives.ReadUInt16LittleEndian(rest[8..]);
            rest = rest[TagHeaderBytes..];
            if (rest.Length < bytes || !tags.HasStamp(TagTable.KeyOf(rest[..bytes]), stamp))
            {
                return false;
            }

            rest = rest[bytes..];
        }

        response = rest;
        return true;
    }
}
