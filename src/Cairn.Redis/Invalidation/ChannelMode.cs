namespace Cairn.Redis.Invalidation;

/// <summary>The mode in which a process receives changes.</summary>
internal enum ChannelMode
{
    /// <summary>The connection that makes changes receives the changes of all other connections (RESP3).</summary>
    Tracking,

    /// <summary>A second connection receives the changes of all other connections, because RESP2 has no pushes.</summary>
    RedirectedTracking,

    /// <summary>Writers publish each change.</summary>
    PublishSubscribe,
}
