using System.Net;

namespace Cairn.Server.Platform;

/// <summary>An address of a client's socket from the kernel, recorded when the client connects, because later the descriptor may belong to another
/// client. The structure is small, because every connection has one although the address is rarely needed.</summary>
[StructLayout(LayoutKind.Auto)]
internal readonly struct PeerAddress
{
    private readonly UInt128 _address;
    private readonly uint _scope;
    private readonly ushort _port;
    private readonly byte _family;

    /// <summary>Creates an address.</summary>
    /// <param name="bytes">A struct sockaddr. Empty, or of another family, for no address.</param>
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

    /// <summary>Converts to an end point; null if there is no address. An IPv4 address is returned as such even if it came from an IPv6
    /// socket.</summary>
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
