using Cairn.Server.Notifications;

namespace Cairn.Server.Resp.PubSub;

/// <summary>Sends keyspace events as messages.</summary>
/// <remarks>A user that is limited to a key prefix receives no events of other keys, whatever it subscribed to.</remarks>
internal sealed class EventChannel(PubSubHub messages) : IEventChannel
{
    private readonly List<Receiver> _receivers = [];
    private volatile int _latestReceivers;

    public int Cost => messages.PatternCount + _latestReceivers;

    public void Send(ReadOnlySpan<byte> key, ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message)
    {
        messages.FindReceivers(channel, _receivers);
        _latestReceivers = _receivers.Count;
        if (_receivers.Count == 0)
        {
            return;
        }

        var published = PublishedMessage.Rent(channel, message, _receivers[0].Subscriber.Peer.Held.Account);
        foreach ((ISubscriber receiver, string? pattern) in _receivers)
        {
            if (receiver.User is { } user && user.MayUse(key))
            {
                receiver.Deliver(published, pattern);
            }
        }

        published.Release();
        _receivers.Clear(); // Does not keep ended subscribers alive.
    }
}
