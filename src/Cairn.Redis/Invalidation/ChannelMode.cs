namespace Cairn.Redis.Invalidation;

/// <summary>How changes are heard of.</summary>
internal enum ChannelMode
{
    /// <summary>The connection that makes changes is told of all others' (RESP3).</summary>
    Tracking,

    /// <summary>The same, told over a second connection, because RESP2 has no pushes.</summary>
    RedirectedTracking,

    /// <summary>Writers publish.</summary>
    PublishSubscribe,
}
