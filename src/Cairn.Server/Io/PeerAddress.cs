using System.Buffers.Binary;
using System.Net;
using System.Runtime.InteropServices;

namespace Cairn.Server.Io;

/// <summary>A client's address as the kernel gave it, noted when the client came: later its descriptor may be another's. Small,
/// because every connection has one and hardly anybody asks.</summary>
[StructLayout(LayoutKind.Auto)]
internal readonly struct PeerAddress
{
    private readonly UInt128 _address;
    private readonly uint _scope;
    private readonly ushort _port;
    private readonly byte _family;

    /// <summary>Notes an address.</summary>
    /// <param name="bytes">A struct sockaddr; empty or of another family for no address.</param>
    public PeerAddress(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < 8)
        {
            return;
        }

        _port = BinaryPrimitives.ReadUInt16BigEndian(bytes[2..]);
        switch (BitConverter.ToUInt16(bytes))
        {
            case LinuxSockets.InternetFamily:
                _family = LinuxSockets.InternetFamily;
                _address = BinaryPrimitives.ReadUInt32BigEndian(bytes[4..]);
                break;
            case LinuxSockets.Internet6Family when bytes.Length >= 28:
                _family = LinuxSockets.Internet6Family;
                _address = BinaryPrimitives.ReadUInt128BigEndian(bytes[8..]);
                _scope = BitConverter.ToUInt32(bytes[24..]);
                break;
        }
    }

    /// <summary>IPv4 addresses look like themselves, also when they came to an IPv6 socket. Null if there is none.</summary>
    public IPEndPoint? ToEndPoint()
    {
        Span<byte> bytes = stackalloc byte[16];
        switch (_family)
        {
            case LinuxSockets.InternetFamily:
                BinaryPrimitives.WriteUInt32BigEndian(bytes, (uint)_address);
                return new IPEndPoint(new IPAddress(bytes[..4]), _port);
            case LinuxSockets.Internet6Family:
                BinaryPrimitives.WriteUInt128BigEndian(bytes, _address);
                var address = new IPAddress(bytes, _scope);
                return new IPEndPoint(address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address, _port);
            default:
                return null;
        }
    }
}
