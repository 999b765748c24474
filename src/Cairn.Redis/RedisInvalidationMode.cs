namespace Cairn.Redis;

/// <summary>
/// The mode in which processes receive each other's changes. All processes that share a server and an instance name must use the same mode.
/// </summary>
public enum RedisInvalidationMode
{
    /// <summary>Uses <see cref="Tracking"/> if the server supports it, otherwise <see cref="PublishSubscribe"/>.</summary>
    Automatic = 0,

    /// <summary>
    /// The server reports every change of a key, including changes by other programs (<c>CLIENT TRACKING</c> in broadcast mode).
    /// </summary>
    Tracking,

    /// <summary>The cache publishes each change in the same transaction as the change. Changes by other programs are not reported.</summary>
    PublishSubscribe,
}
