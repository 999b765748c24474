using Cairn.Protocol;
using Cairn.Server.Connections;
using Cairn.Server.Resp.PubSub;

namespace Cairn.Server.Resp;

// What the client subscribed to, and what comes of it. Messages come from any worker into the inbox, which this connection's own
// worker empties.
internal sealed partial class RespSession
{
    // An item of the inbox, besides its message.
    private const int InboxItemBytes = 32;
    private const int KeptInboxItems = 64;

    private readonly SubscribedNames _channels;
    private readonly SubscribedNames _patterns;
    private readonly Lock _inboxLock = new();
    private readonly Queue<InboxItem> _inbox = new();
    private long _inboxBytes;
    private bool _isInboxClosed;
    private readonly Action<OutputBuffer> _emptyInbox;

    public int SubscriptionCount => _channels.Count + _patterns.Count;

    /// <summary>Where receivers are gathered.</summary>
    public List<(RespSession Session, string? Pattern)> Receivers => _worker.Receivers;

    /// <summary>The names subscribed to, in the order in which they were.</summary>
    public SubscribedNames Subscriptions(bool isPattern) => isPattern ? _patterns : _channels;

    public void Subscribe(string name, bool isPattern)
    {
        if (Subscriptions(isPattern).Add(name))
        {
            Server.Messages.Add(this, name, isPattern);
        }
    }

    public void Unsubscribe(string name, bool isPattern)
    {
        if (Subscriptions(isPattern).Remove(name))
        {
            Server.Messages.Remove(this, name, isPattern);
        }
    }

    public void UnsubscribeAll()
    {
        foreach (bool isPattern in new[] { false, true })
        {
            while (Subscriptions(isPattern) is { Count: > 0 } names)
            {
                Unsubscribe(names.First, isPattern);
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

    // The message's holder is the inbox now. What waits there will be output, so the same limit holds.
    private void Deliver(PublishedMessage message, string? pattern, InboxKind kind, bool isRedirected = false)
    {
        bool isFirst = false;
        bool isTaken = false;
        long bytes = message.Bytes + InboxItemBytes;
        lock (_inboxLock)
        {
            if (!_isInboxClosed && _inboxBytes + bytes <= MaxReplyBytes)
            {
                isTaken = true;
                isFirst = _inbox.Count == 0;
                _inbox.Enqueue(new InboxItem(kind, message, pattern, isRedirected));
                _inboxBytes += bytes;
            }
        }

        if (!isTaken)
        {
            message.Release();
            Peer.Close(CloseReason.TooMuchOutput);
        }
        else if (isFirst)
        {
            Peer.Post(_emptyInbox);
        }
    }

    // Nothing is delivered any more.
    private void CloseInbox()
    {
        lock (_inboxLock)
        {
            _isInboxClosed = true;
            while (_inbox.TryDequeue(out InboxItem item))
            {
                item.Message.Release();
            }

            _inbox.TrimExcess();
        }
    }

    private bool TryTakeFromInbox(out InboxItem item)
    {
        lock (_inboxLock)
        {
            if (!_inbox.TryDequeue(out item))
            {
                if (_inbox.Capacity > KeptInboxItems)
                {
                    _inbox.TrimExcess();
                }

                return false;
            }

            _inboxBytes -= item.Message.Bytes + InboxItemBytes;
            return true;
        }
    }

    private void EmptyInbox(OutputBuffer output)
    {
        _isInboxWaiting = IsPaused;
        if (_isInboxWaiting)
        {
            return; // I2 of pieces: when the reply is complete.
        }

        if (output.UnsentBytes > 0 && Peer.Held.Account.IsExceeded)
        {
            CloseInbox(); // It has not read what came before, and there is no memory for more.
            Peer.Close(CloseReason.OutOfMemory);
            return;
        }

        _target.Open(output);
        var writer = new RespWriter(_target, IsResp3);
        while (TryTakeFromInbox(out InboxItem next))
        {
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
