using System.Buffers.Binary;
using System.Text;

namespace Cairn.Server.Tests.Memcached.Binary;

/// <summary>Builds requests of the binary protocol. Text is Latin-1: one byte for each character.</summary>
internal static class BinaryRequest
{
    public const byte Get = 0x00, Set = 0x01, Add = 0x02, Replace = 0x03, Delete = 0x04, Increment = 0x05, Decrement = 0x06, Quit = 0x07,
        Flush = 0x08, GetQ = 0x09, Noop = 0x0a, ShowVersion = 0x0b, GetK = 0x0c, GetKQ = 0x0d, Append = 0x0e, Prepend = 0x0f, Stat = 0x10,
        SetQ = 0x11, AddQ = 0x12, ReplaceQ = 0x13, DeleteQ = 0x14, IncrementQ = 0x15, DecrementQ = 0x16, QuitQ = 0x17, FlushQ = 0x18,
        AppendQ = 0x19, PrependQ = 0x1a, Verbosity = 0x1b, Touch = 0x1c, Gat = 0x1d, GatQ = 0x1e, SaslList = 0x20, SaslAuth = 0x21,
        SaslStep = 0x22, GatK = 0x23, GatKQ = 0x24;

    /// <summary>The bytes of a reply to a get before its value: the header and the flags.</summary>
    public const int HeadBytes = 24 + sizeof(uint);

    public const uint NoCreation = uint.MaxValue;

    /// <summary>Creates a request of any form.</summary>
    public static byte[] Make(byte opcode, string key = "", byte[]? extras = null, string value = "", ulong version = 0, uint opaque = 0)
    {
        extras ??= [];
        byte[] request = new byte[24 + extras.Length + key.Length + value.Length];
        request[0] = 0x80;
        request[1] = opcode;
        BinaryPrimitives.WriteUInt16BigEndian(request.AsSpan(2), (ushort)key.Length);
        request[4] = (byte)extras.Length;
        BinaryPrimitives.WriteInt32BigEndian(request.AsSpan(8), request.Length - 24);
        BinaryPrimitives.WriteUInt32BigEndian(request.AsSpan(12), opaque);
        BinaryPrimitives.WriteUInt64BigEndian(request.AsSpan(16), version);
        extras.CopyTo(request, 24);
        Encoding.Latin1.GetBytes(key).CopyTo(request, 24 + extras.Length);
        Encoding.Latin1.GetBytes(value).CopyTo(request, 24 + extras.Length + key.Length);
        return request;
    }

    /// <summary>Creates a set, an add or a replace.</summary>
    public static byte[] Store(byte opcode, string key, string value, uint flags = 0, uint seconds = 0, ulong version = 0) =>
        Make(opcode, key, [.. Bytes(flags), .. Bytes(seconds)], value, version);

    /// <summary>Creates an increment or a decrement.</summary>
    public static byte[] Count(byte opcode, string key, ulong delta, ulong initial = 0, uint seconds = 0, ulong version = 0) =>
        Make(opcode, key, [.. Bytes(delta), .. Bytes(initial), .. Bytes(seconds)], "", version);

    /// <summary>Creates a request whose extras are an expiration.</summary>
    public static byte[] WithTime(byte opcode, string key, uint seconds) => Make(opcode, key, Bytes(seconds));

    public static byte[] Bytes(uint number)
    {
        byte[] bytes = new byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32BigEndian(bytes, number);
        return bytes;
    }

    private static byte[] Bytes(ulong number)
    {
        byte[] bytes = new byte[sizeof(ulong)];
        BinaryPrimitives.WriteUInt64BigEndian(bytes, number);
        return bytes;
    }
}
