using System.Buffers;
using System.Buffers.Binary;
using System.Buffers.Text;
using Cairn.Server.Buffers;
using Cairn.Server.Resp.PubSub;

namespace Cairn.Server.Resp.Tracking;

/// <summary>Names of changed keys, for one invalidation. The message's channel has them as bulk strings, and its content is their number.</summary>
internal sealed class ChangedKeys
{
    private const int MostKeptBytes = 64 << 10;

    private readonly ArrayBufferWriter<byte> _bulks = new();

    /// <summary>Creates the message of an invalidation. The caller is its holder.</summary>
    public PublishedMessage MessageOf(ReadOnlySpan<byte[]> keys, MemoryAccount account)
    {
        _bulks.ResetWrittenCount();
        foreach (byte[] key in keys)
        {
            Span<byte> room = _bulks.GetSpan(key.Length + 16);
            room[0] = (byte)'$';
            Utf8Formatter.TryFormat(key.Length, room[1..], out int digits);
            "\r\n"u8.CopyTo(room[(1 + digits)..]);
            key.CopyTo(room[(3 + digits)..]);
            "\r\n"u8.CopyTo(room[(3 + digits + key.Length)..]);
            _bulks.Advance(5 + digits + key.Length);
        }

        Span<byte> count = stackalloc byte[sizeof(int)];
        BinaryPrimitives.WriteInt32LittleEndian(count, keys.Length);
        var message = PublishedMessage.Rent(_bulks.WrittenSpan, count, account);
        if (_bulks.Capacity > MostKeptBytes)
        {
            _bulks.Clear();
        }

        return message;
    }

    /// <summary>Returns the number of keys of an invalidation.</summary>
    public static int CountOf(PublishedMessage keys) => BinaryPrimitives.ReadInt32LittleEndian(keys.Message);
}
