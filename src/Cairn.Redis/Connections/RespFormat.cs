using Cairn.Protocol;

namespace Cairn.Redis.Connections;

/// <summary>Redis' protocol, RESP2 and RESP3.</summary>
internal sealed class RespFormat : WireFormat
{
    private readonly RespReplyScanner _scanner = new();
    private volatile bool _isSubscriber;

    public override int NeededBytes => _scanner.NeededBytes;

    /// <summary>Without RESP3, what a subscriber is told looks like a reply. Of its own requests none but PING is answered, with two elements.</summary>
    public bool IsSubscriber
    {
        get => _isSubscriber;
        set => _isSubscriber = value;
    }

    public override ParseStatus TryScan(ReadOnlySpan<byte> input, out int replyBytes) => _scanner.TryScan(input, out replyBytes);

    public override bool IsPush(ReadOnlySpan<byte> reply) => reply[0] == (byte)'>' || (_isSubscriber && reply.StartsWith("*3\r\n"u8));
}
