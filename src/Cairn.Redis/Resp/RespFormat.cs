using Cairn.Clients.Connections;
using Cairn.Protocol;

namespace Cairn.Redis.Resp;

/// <summary>The Redis protocol, RESP2 and RESP3.</summary>
internal sealed class RespFormat : WireFormat
{
    private readonly RespReplyScanner _scanner = new();
    private volatile bool _isSubscriber;

    public override string Name => "RESP";

    public override int NeededBytes => _scanner.NeededBytes;

    /// <summary>
    /// Gets or sets whether the connection is subscribed. Under RESP2, and in Garnet's confirmation of SUBSCRIBE under RESP3, a message looks like a
    /// reply. Messages have three elements. Of the connection's own requests, only PING has a reply: two elements under RESP2, and a text under RESP3.
    /// SUBSCRIBE has none, unless the server refuses it. So an error is a message, too.
    /// </summary>
    public bool IsSubscriber
    {
        get => _isSubscriber;
        set => _isSubscriber = value;
    }

    public override ParseStatus TryScan(ReadOnlySpan<byte> input, out int replyBytes) => _scanner.TryScan(input, out replyBytes);

    public override bool IsPush(ReadOnlySpan<byte> reply) => reply[0] == (byte)'>' || (_isSubscriber && (reply[0] == (byte)'-' || reply.StartsWith("*3\r\n"u8)));

    public override string? ErrorOf(ReadOnlySpan<byte> reply) => reply[0] == (byte)'-' ? Encoding.UTF8.GetString(reply[1..].TrimEnd("\r\n"u8)) : null;
}
