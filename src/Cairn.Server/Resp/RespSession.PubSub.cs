using Cairn.Protocol;

namespace Cairn.Server.Resp;

// What the client subscribed to. Messages come from other workers as posts to this connection's own.
internal sealed partial class RespSession
{
    private readonly List<string> _channels = [];
    private readonly List<string> _patterns = [];

    public int SubscriptionCount => _channels.Count + _patterns.Count;

    /// <summary>The names subscribed to, in the order in which they were.</summary>
    public IReadOnlyList<string> Subscriptions(bool isPattern) => isPattern ? _patterns : _channels;

    public void Subscribe(string name, bool isPattern)
    {
        List<string> names = isPattern ? _patterns : _channels;
        if (!names.Contains(name))
        {
            names.Add(name);
            Server.Messages.Add(this, name, isPattern);
        }
    }

    public void Unsubscribe(string name, bool isPattern)
    {
        if ((isPattern ? _patterns : _channels).Remove(name))
        {
            Server.Messages.Remove(this, name, isPattern);
        }
    }

    public void UnsubscribeAll()
    {
        foreach (bool isPattern in new[] { false, true })
        {
            foreach (string name in Subscriptions(isPattern).ToArray())
            {
                Unsubscribe(name, isPattern);
            }
        }
    }

    /// <summary>Sends a message soon. Any worker.</summary>
    public void Deliver(byte[] channel, string? pattern, byte[] message) => Peer.Post(output =>
    {
        _target.Open(output);
        var writer = new RespWriter(_target, IsResp3);
        WriteMessage(channel, pattern, message, ref writer);
        writer.Flush();
    });

    /// <summary>Writes a message among this client's own replies.</summary>
    public static void WriteMessage(ReadOnlySpan<byte> channel, string? pattern, ReadOnlySpan<byte> message, ref RespWriter writer)
    {
        writer.WritePushHeader(pattern is null ? 3 : 4);
        if (pattern is null)
        {
            writer.WriteBulk("message"u8);
        }
        else
        {
            writer.WriteBulk("pmessage"u8);
            writer.WriteBulk(Text.Bytes(pattern));
        }

        writer.WriteBulk(channel);
        writer.WriteBulk(message);
    }
}
