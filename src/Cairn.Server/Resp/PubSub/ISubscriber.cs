using Cairn.Server.Resp.Security;

namespace Cairn.Server.Resp.PubSub;

/// <summary>A client that can subscribe to channels. Thread-safe.</summary>
internal interface ISubscriber
{
    /// <summary>Gets the client's connection.</summary>
    RespPeer Peer { get; }

    /// <summary>Gets the client's user; null before it has authenticated.</summary>
    RespUser? User { get; }

    /// <summary>Sends a message soon. The caller keeps its own hold of the message.</summary>
    /// <param name="message">The message.</param>
    /// <param name="pattern">The pattern that the channel matched; null if the client subscribed to the channel.</param>
    void Deliver(PublishedMessage message, string? pattern);
}

/// <summary>A client that receives a message, and the pattern that the channel matched, if the client subscribed to a pattern.</summary>
internal readonly record struct Receiver(ISubscriber Subscriber, string? Pattern);
