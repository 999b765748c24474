namespace Cairn.Server.Notifications;

/// <summary>Carries keyspace events to the clients that subscribed to their channels.</summary>
internal interface IEventChannel
{
    /// <summary>Gets the approximate number of patterns with which an event is compared, and of clients that get it. Thread-safe.</summary>
    int Cost { get; }

    /// <summary>Sends a message soon. One thread at a time.</summary>
    /// <param name="key">The key that the event is about. Only clients that may use the key receive the message.</param>
    /// <param name="channel">The channel.</param>
    /// <param name="message">The message.</param>
    void Send(ReadOnlySpan<byte> key, ReadOnlySpan<byte> channel, ReadOnlySpan<byte> message);
}
