using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.AspNetCore.HybridOutput;

// The form of a response in the second level. Numbers are little-endian. A text is its length in bytes, and then UTF-8.
//
//   format u8 | flags u8 | created i64 | content type | entity tag | others u16 x { name | values u16 x value } | body to the end
//
//   flags  1 has a content type   2 may be sent before routing
//
// The envelope around it has a checksum. The bytes may still come from another program, so the reader checks all lengths.

/// <summary>Writes and reads kept responses.</summary>
internal sealed class KeptResponseSerializer : IHybridCacheSerializer<KeptResponse>
{
    private const string EndsEarly = "A kept response ends too early.";
    private const byte Format = 1;
    private const byte HasContentType = 1;
    private const byte IsEarly = 2;
    private const int FixedBytes = 2 + sizeof(long);

    public void Serialize(KeptResponse value, IBufferWriter<byte> target)
    {
        Span<byte> start = target.GetSpan(FixedBytes);
        start[0] = Format;
        start[1] = (byte)((value.ContentType is null ? 0 : HasContentType) | (value.IsAnsweredEarly ? IsEarly : 0));
        BinaryPrimitives.WriteInt64LittleEndian(start[2..], value.CreatedSeconds);
        target.Advance(FixedBytes);
        WriteText(target, value.ContentType ?? "");
        WriteText(target, value.EntityTag);
        WriteCount(target, value.Others.Count);
        foreach ((string name, string?[] values) in value.Others)
        {
            WriteText(target, name);
            WriteCount(target, values.Length);
            foreach (string? text in values)
            {
                WriteText(target, text ?? "");
            }
        }

        target.Write(value.Body.Span);
    }

    public KeptResponse Deserialize(ReadOnlySequence<byte> source)
    {
        byte[] bytes = source.ToArray();
        ReadOnlySpan<byte> rest = bytes;
        if (rest.Length < FixedBytes || rest[0] != Format)
        {
            throw new InvalidDataException("This is no kept response.");
        }

        byte flags = rest[1];
        long created = BinaryPrimitives.ReadInt64LittleEndian(rest[2..]);
        rest = rest[FixedBytes..];
        string contentType = ReadText(ref rest);
        string entityTag = ReadText(ref rest);
        var others = new KeyValuePair<string, string?[]>[ReadCount(ref rest)];
        for (int i = 0; i < others.Length; i++)
        {
            string name = ReadText(ref rest);
            var values = new string?[ReadCount(ref rest)];
            for (int j = 0; j < values.Length; j++)
            {
                values[j] = ReadText(ref rest);
            }

            others[i] = new(name, values);
        }

        return new KeptResponse(
            (flags & HasContentType) == 0 ? null : contentType, entityTag, others, rest.ToArray(), created, (flags & IsEarly) != 0);
    }

    private static void WriteCount(IBufferWriter<byte> target, int count)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(target.GetSpan(sizeof(ushort)), checked((ushort)count));
        target.Advance(sizeof(ushort));
    }

    private static void WriteText(IBufferWriter<byte> target, string text)
    {
        int bytes = Encoding.UTF8.GetByteCount(text);
        Span<byte> span = target.GetSpan(sizeof(int) + bytes);
        BinaryPrimitives.WriteInt32LittleEndian(span, bytes);
        Encoding.UTF8.GetBytes(text, span[sizeof(int)..]);
        target.Advance(sizeof(int) + bytes);
    }

    // Each counted item takes at least one byte, so a count above the remaining bytes is invalid. This bounds the allocation.
    private static int ReadCount(ref ReadOnlySpan<byte> rest)
    {
        int count = BinaryPrimitives.ReadUInt16LittleEndian(Take(ref rest, sizeof(ushort)));
        return count <= rest.Length ? count : throw new InvalidDataException(EndsEarly);
    }

    private static string ReadText(ref ReadOnlySpan<byte> rest)
    {
        int bytes = BinaryPrimitives.ReadInt32LittleEndian(Take(ref rest, sizeof(int)));
        return Encoding.UTF8.GetString(Take(ref rest, bytes));
    }

    private static ReadOnlySpan<byte> Take(ref ReadOnlySpan<byte> rest, int bytes)
    {
        if ((uint)bytes > (uint)rest.Length)
        {
            throw new InvalidDataException(EndsEarly);
        }

        ReadOnlySpan<byte> taken = rest[..bytes];
        rest = rest[bytes..];
        return taken;
    }
}
