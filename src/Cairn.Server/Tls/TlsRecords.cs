namespace Cairn.Server.Tls;

/// <summary>Follows the records of a TLS connection by the lengths in their headers (RFC 8446, section 5.1), to determine whether a
/// record is incomplete. SslStream holds such a record, and does not report it.</summary>
internal struct TlsRecords
{
    private const int HeaderBytes = 5;

    private ulong _header; // The header bytes so far, the latest in the lowest byte.
    private int _headerBytes;
    private int _left;

    /// <summary>Gets whether only a part of a record has arrived.</summary>
    public readonly bool IsWithin => _headerBytes > 0;

    /// <summary>Processes received bytes.</summary>
    public void Follow(ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            if (_headerBytes < HeaderBytes)
            {
                _header = (_header << 8) | bytes[0];
                bytes = bytes[1..];
                if (++_headerBytes == HeaderBytes)
                {
                    _left = (ushort)_header; // The last two bytes, after the type and the version.
                }
            }

            int more = Math.Min(_left, bytes.Length);
            _left -= more;
            bytes = bytes[more..];
            if (_headerBytes == HeaderBytes && _left == 0)
            {
                _headerBytes = 0;
            }
        }
    }
}
