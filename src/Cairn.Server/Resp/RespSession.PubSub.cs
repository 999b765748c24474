using Cairn.Protocol;
using Cairn.Server.Connections;
using Cairn.Server.Resp.PubSub;

namespace Cairn.Server.Resp;

// What the client subscribed to, and what comes of it. Messages come from any worker into the inbox, which this connection's own
// worker empties.
internal sealed partial class RespSession
{
    private readonly List<string> _channels = [];
    private readonly List<string> _patterns = [];
    private readonly Lock _inboxLock = new();
    private readonly Queue<InboxItem> _inbox = new();
    private readonly Action<OutputBuffer> _emptyInbox;

    public int SubscriptionCount => _channels.Count + _patterns.Count;

    /// <summary>Where receivers are gathered.</summary>
    public List<(RespSession Session, string? Pattern)> Receivers { get; } = [];

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

    /// <summary>Sends a message soon. Any worker. What was held of it by the caller stays so.</summary>
    public void Deliver(PublishedMessage message, string? pattern)
    {
        message.Hold();
        Deliver(message, pattern, InboxKind.Message);
    }

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
            writer.WriteText(pattern);
        }

        writer.WriteBulk(channel);
        writer.WriteBulk(message);
    }

    // The message's holder is the inbox now.
    private void Deliver(PublishedMessage message, string? pattern, InboxKind kind, bool isRedirected = false)
    {
        bool isFirst;
        lock (_inboxLock)
        {
            isFirst = _inbox.Count == 0;
            _inbox.Enqueue(new InboxItem(kind, message, pattern, isRedirected));
        }

        if (isFirst)
        {
            Peer.Post(_emptyInbox);
        }
    }

    private void EmptyInbox(OutputBuffer output)
    {
        _target.Open(output);
        var writer = new RespWriter(_target, IsResp3);
        while (true)
        {
            InboxItem next;
            lock (_inboxLock)
            {
                if (!_inbox.TryDequeue(out next))
                {
                    break;
                }
            }

            if (next.Kind == InboxKind.Message)
            {
                WriteMessage(next.Message.Channel, next.Pattern, next.Message.Message, ref writer);
            }
            else
            {
                WriteInvalidation(next, ref writer);
            }

            next.Message.Release();
        }

        writer.Flush();
    }
}
