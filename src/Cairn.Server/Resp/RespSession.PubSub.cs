using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Resp.PubSub;

namespace Cairn.Server.Resp;

// The client's subscriptions and the messages that result.
internal sealed partial class RespSession : ISubscriber
{
    // A worker runs 32 posts in a turn, so this limit corresponds to ElementsPerTurn.
    private const int SubscriptionsPerPost = ElementsPerTurn / 32;

    private readonly SubscribedNames _channels;
    private readonly SubscribedNames _patterns;
    private readonly MessageInbox _inbox;
    private readonly Action<OutputBuffer> _emptyInbox;

    public int SubscriptionCount => _channels.Count + _patterns.Count;

    /// <summary>Gets the list in which receivers are collected.</summary>
    public List<Receiver> Receivers => _worker.Receivers;

    /// <summary>Gets the subscribed names, in the order of subscription.</summary>
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

    /// <summary>Removes one subscription. There must be one.</summary>
    public void UnsubscribeFirst()
    {
        bool isPattern = _channels.Count == 0;
        Unsubscribe(Subscriptions(isPattern).First, isPattern);
    }

    // The client has left. It may have had a million subscriptions, so other connections are served in between.
    private void LeaveChannels()
    {
        for (int i = 0; i < SubscriptionsPerPost && SubscriptionCount > 0; i++)
        {
            UnsubscribeFirst();
        }

        if (SubscriptionCount > 0)
        {
            Peer.PostAfterEnd(LeaveChannels);
        }
    }

    /// <summary>Sends a message soon. Thread-safe. The caller keeps its own hold of the message.</summary>
    public void Deliver(PublishedMessage message, string? pattern)
    {
        message.Hold();
        Deliver(message, pattern, InboxKind.Message);
    }

    /// <summary>Writes a message among this client's own replies. A client that has turned replies off receives it, too.</summary>
    public void WriteMessage(ReadOnlySpan<byte> channel, string? pattern, ReadOnlySpan<byte> message, ref RespWriter writer)
    {
        if (IsSilent)
        {
            RespWriter pushes = OpenPushes(ref writer);
            Write(channel, pattern, message, ref pushes);
            pushes.Flush();
        }
        else
        {
            Write(channel, pattern, message, ref writer);
        }
    }

    /// <summary>Writes the confirmation of a changed subscription, to a client that has turned replies off as well.</summary>
    /// <param name="kind">The kind of change, such as subscribe.</param>
    /// <param name="name">The channel or pattern; null if the client has no subscription that it could end.</param>
    /// <param name="writer">The writer of replies.</param>
    public void WriteSubscription(ReadOnlySpan<byte> kind, string? name, ref RespWriter writer)
    {
        if (IsSilent)
        {
            RespWriter pushes = OpenPushes(ref writer);
            Write(kind, name, ref pushes);
            pushes.Flush();
        }
        else
        {
            Write(kind, name, ref writer);
        }
    }

    // The writer of replies may hold bytes of the same output.
    private RespWriter OpenPushes(ref RespWriter writer)
    {
        writer.Flush();
        return new RespWriter(_target, IsResp3);
    }

    private void Write(ReadOnlySpan<byte> kind, string? name, ref RespWriter writer)
    {
        writer.WritePushHeader(3);
        writer.WriteBulk(kind);
        if (name is null)
        {
            writer.WriteNull();
        }
        else
        {
            writer.WriteText(name);
        }

        writer.WriteInteger(SubscriptionCount);
    }

    private static void Write(ReadOnlySpan<byte> channel, string? pattern, ReadOnlySpan<byte> message, ref RespWriter writer)
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

    // The limit of the output applies to the inbox, because its content becomes output.
    private void Deliver(PublishedMessage message, string? pattern, InboxKind kind, bool isRedirected = false)
    {
        Delivery delivery = _inbox.Add(new InboxItem(kind, message, pattern, isRedirected), MaxReplyBytes);
        if (delivery == Delivery.Refused)
        {
            message.Release();
            Peer.Close(CloseReason.TooMuchOutput);
        }
        else if (delivery == Delivery.WaitsForPost)
        {
            Peer.Post(_emptyInbox);
        }
    }

    private void EmptyInbox(OutputBuffer output)
    {
        _inbox.BeginEmptying();
        _isInboxWaiting = IsPaused;
        if (_isInboxWaiting)
        {
            return; // I2 of Pieces: the inbox waits until the reply is complete.
        }

        if (output.UnsentBytes > 0 && Peer.Held.Account.IsExceeded)
        {
            _inbox.Close(); // It has not read earlier output, and there is no memory for more.
            Peer.Close(CloseReason.OutOfMemory);
            return;
        }

        _target.Open(output);
        var writer = new RespWriter(_target, IsResp3);
        var share = new TurnShare();
        while (_inbox.TryTake(out InboxItem next))
        {
            share.Count(next.Message.Bytes);
            if (next.Kind == InboxKind.Message)
            {
                Write(next.Message.Channel, next.Pattern, next.Message.Message, ref writer);
            }
            else
            {
                WriteInvalidation(next, ref writer);
            }

            next.Message.Release();
            if (!share.HasRoom && Peer.Held.Account.IsExceeded)
            {
                if (_inbox.NeedsPost())
                {
                    Peer.Post(_emptyInbox); // Receivers share a message, but each output has its own copy. The rest follows when the client has read this.
                }

                break;
            }
        }

        writer.Flush();
    }
}
