namespace Cairn;

/// <summary>
/// Lists the keys of a distributed cache and reports their changes. A cache implements it together with <c>IDistributedCache</c>, for programs that need
/// all keys, such as the interfaces of the readable file. <c>CairnRedisCache</c> does.
/// </summary>
/// <remarks>All members may be called from any thread. Keys are those that <c>IDistributedCache</c> receives.</remarks>
public interface ICacheKeys
{
    /// <summary>Lists the keys.</summary>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <returns>
    /// The keys in no order. A key that exists during the whole enumeration occurs at least once. A key that comes or goes meanwhile can occur or not.
    /// </returns>
    IAsyncEnumerable<string> ListKeysAsync(CancellationToken cancellationToken);

    /// <summary>Subscribes to the changes that other caches make, in this and in other processes. The connection is made in the background.</summary>
    /// <param name="changed">
    /// Receives each changed key; null if any key can have changed, as after a lost connection and when the subscription begins to receive. It must return
    /// soon and must not throw.
    /// </param>
    /// <returns>An object whose disposal ends the subscription.</returns>
    IDisposable SubscribeToKeys(Action<string?> changed);
}
