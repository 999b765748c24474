using System.Buffers.Binary;
using System.Globalization;
using System.Text;

namespace Cairn.Server.Tests.Memcached.Binary;

/// <summary>A reply of the binary protocol.</summary>
internal sealed record BinaryReply(byte Opcode, ushort Status, uint Opaque, ulong Version, byte[] Extras, string Key, string Value)
{
    /// <summary>Reads all complete replies.</summary>
    public static List<BinaryReply> ReadAll(ReadOnlySpan<byte> bytes)
    {
        var replies = new List<BinaryReply>();
        while (bytes.Length >= 24)
        {
            Assert.Equal(0x81, bytes[0]);
            Assert.Equal(0, bytes[5]);
            int keyBytes = BinaryPrimitives.ReadUInt16BigEndian(bytes[2..]);
            int extrasBytes = bytes[4];
            int bodyBytes = BinaryPrimitives.ReadInt32BigEndian(bytes[8..]);
            if (bytes.Length - 24 < bodyBytes)
            {
                break;
            }

            ReadOnlySpan<byte> body = bytes.Slice(24, bodyBytes);
            replies.Add(new BinaryReply(
                bytes[1],
                BinaryPrimitives.ReadUInt16BigEndian(bytes[6..]),
                BinaryPrimitives.ReadUInt32BigEndian(bytes[12..]),
                BinaryPrimitives.ReadUInt64BigEndian(bytes[16..]),
                body[..extrasBytes].ToArray(),
                Encoding.Latin1.GetString(body.Slice(extrasBytes, keyBytes)),
                Encoding.Latin1.GetString(body[(extrasBytes + keyBytes)..])));
            bytes = bytes[(24 + bodyBytes)..];
        }

        return replies;
    }

    /// <summary>Returns the reply as text, without what must differ between servers: versions and the program's own.</summary>
    public string ToNormalText() => string.Create(
        CultureInfo.InvariantCulture,
        $"{Opcode:x2} status {Status:x2} opaque {Opaque} {(Version == 0 ? "" : "versioned ")}[{Convert.ToHexString(Extras)}] '{Key}' '{(IsProgramVersion ? "N" : NormalValue)}'");

    private bool IsProgramVersion => Opcode == BinaryRequest.ShowVersion && Status == 0;

    // A number that became shorter is followed by spaces, unless memcached was already sending a reply with the old digits.
    private string NormalValue => Value.TrimEnd(' ') is var number && ulong.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out _) ? number : Value;
}
