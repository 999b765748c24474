using System.IO.Compression;
using System.Text.Json;

namespace Cairn.Cli.Clients;

// A hybrid cache stores a value in a distributed cache as 8 bytes of the era and an envelope (docs/reference/envelope.md).
// The tool does not know the name of the cache in the key, and so cannot check the envelope's checksum. It checks all lengths instead.
internal sealed record HybridEnvelope
{
    private const int EraBytes = 8;
    private const int FixedBytes = 56;
    private const int NullFlag = 1;
    private const int CompressedFlag = 2;
    private const int SlidingFlag = 4;
    private const int LastModifiedFlag = 8;
    private const int ETagFlag = 16;
    private const int TagsFlag = 32;

    // A damaged length must not take more memory than this.
    private const int MaxPayloadBytes = 512 << 20;

    private static readonly string[] s_formats = ["", "raw", "json", "xml", "binary", "protobuf"];

    public required byte[] Payload { get; init; }

    public required string Format { get; init; }

    public required bool IsNull { get; init; }

    public required long Created { get; init; }

    public required long FreshUntil { get; init; }

    public required long UsableUntil { get; init; }

    public long SlidingMs { get; init; }

    public string? ETag { get; init; }

    public IReadOnlyList<string> Tags { get; init; } = [];

    /// <summary>Returns the envelope in a stored value; null if the value has none.</summary>
    /// <exception cref="ToolException">The envelope is damaged, or is of a later version.</exception>
    public static HybridEnvelope? Find(byte[] stored)
    {
        ReadOnlySpan<byte> bytes = stored.AsSpan(Math.Min(EraBytes, stored.Length));
        if (bytes.Length < 5 || bytes[0] != 0xFE || !bytes[1..].StartsWith("CRN"u8))
        {
            return null;
        }

        if (bytes[4] != 1)
        {
            throw new ToolException(ExitCode.Server, $"the entry has version {bytes[4]} of the envelope; this tool reads version 1, and --raw prints it as it is");
        }

        try
        {
            return Read(bytes);
        }
        catch (Exception damaged) when (damaged is ArgumentException or InvalidDataException)
        {
            throw new ToolException(ExitCode.Server, "the entry of the hybrid cache is damaged, or another program wrote the value; --raw prints it as it is", damaged);
        }
    }

    public void WriteJson(Utf8JsonWriter writer)
    {
        writer.WriteStartObject("entry"u8);
        writer.WriteString("format"u8, Format);
        WriteMoment(writer, "created", Created);
        WriteMoment(writer, "freshUntil", FreshUntil);
        WriteMoment(writer, "usableUntil", UsableUntil);
        if (SlidingMs != 0)
        {
            writer.WriteNumber("slidingMs"u8, SlidingMs);
        }

        if (ETag is not null)
        {
            writer.WriteString("etag"u8, ETag);
        }

        if (Tags.Count > 0)
        {
            writer.WriteStartArray("tags"u8);
            foreach (string tag in Tags)
            {
                writer.WriteStringValue(tag);
            }

            writer.WriteEndArray();
        }

        if (IsNull)
        {
            writer.WriteBoolean("isNull"u8, true);
        }

        writer.WriteEndObject();
    }

    // A slice beyond the end throws an ArgumentException.
    private static HybridEnvelope Read(ReadOnlySpan<byte> bytes)
    {
        int flags = BinaryPrimitives.ReadUInt16LittleEndian(bytes[6..]);
        int payloadBytes = BinaryPrimitives.ReadInt32LittleEndian(bytes[48..]);
        int fieldsBytes = BinaryPrimitives.ReadInt32LittleEndian(bytes[52..]);
        ReadOnlySpan<byte> fields = bytes.Slice(FixedBytes, fieldsBytes);
        ReadOnlySpan<byte> payload = bytes[(FixedBytes + fieldsBytes)..];
        long sliding = (flags & SlidingFlag) == 0 ? 0 : BinaryPrimitives.ReadInt64LittleEndian(Take(ref fields, 8));
        if ((flags & LastModifiedFlag) != 0)
        {
            Take(ref fields, 8);
        }

        string? etag = (flags & ETagFlag) == 0 ? null : TakeText(ref fields);
        var tags = new List<string>();
        for (int left = (flags & TagsFlag) == 0 ? 0 : BinaryPrimitives.ReadUInt16LittleEndian(Take(ref fields, 2)); left > 0; left--)
        {
            Take(ref fields, 8); // The stamp.
            tags.Add(TakeText(ref fields));
        }

        return new HybridEnvelope
        {
            Payload = (flags & CompressedFlag) != 0 ? Decompress(payload, payloadBytes)
                : payload.Length == payloadBytes ? payload.ToArray()
                : throw new InvalidDataException("The payload has another length."),
            Format = bytes[5] < s_formats.Length ? s_formats[bytes[5]] : "custom",
            IsNull = (flags & NullFlag) != 0,
            Created = BinaryPrimitives.ReadInt64LittleEndian(bytes[24..]),
            FreshUntil = BinaryPrimitives.ReadInt64LittleEndian(bytes[32..]),
            UsableUntil = BinaryPrimitives.ReadInt64LittleEndian(bytes[40..]),
            SlidingMs = sliding,
            ETag = etag,
            Tags = tags,
        };
    }

    private static byte[] Decompress(ReadOnlySpan<byte> compressed, int length)
    {
        byte[] value = length is >= 0 and <= MaxPayloadBytes ? new byte[length] : throw new InvalidDataException("The length is not possible.");
        return BrotliDecoder.TryDecompress(compressed, value, out int written) && written == length
            ? value
            : throw new InvalidDataException("The payload cannot be decompressed.");
    }

    private static ReadOnlySpan<byte> Take(ref ReadOnlySpan<byte> fields, int bytes)
    {
        ReadOnlySpan<byte> taken = fields[..bytes];
        fields = fields[bytes..];
        return taken;
    }

    private static string TakeText(ref ReadOnlySpan<byte> fields) =>
        Encoding.UTF8.GetString(Take(ref fields, BinaryPrimitives.ReadUInt16LittleEndian(Take(ref fields, 2))));

    private static void WriteMoment(Utf8JsonWriter writer, string name, long unixMs)
    {
        if (unixMs >= 0 && unixMs <= DateTimeOffset.MaxValue.ToUnixTimeMilliseconds())
        {
            writer.WriteString(name, Figures.Moment(DateTimeOffset.FromUnixTimeMilliseconds(unixMs)));
        }
    }
}
