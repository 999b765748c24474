namespace Cairn.Redis;

/// <summary>How processes hear of each other's changes. All that share a server and an instance name have to use the same.</summary>
public enum RedisInvalidationMode
{
    /// <summary>The server tracks keys if it can; otherwise by publish and subscribe.</summary>
    Automatic = 0,

    /// <summary>The server tells of every change of a key, whoever made it (<c>CLIENT TRACKING</c> in broadcast mode).</summary>
    Tracking,

    /// <summary>Each change is published in one step with it. Changes by other programs go unheard.</summary>
    PublishSubscribe,
}
