namespace Cairn.Caching;

/// <summary>
/// Reports to the processes that share an <see cref="Microsoft.Extensions.Caching.Distributed.IDistributedCache"/> which of its keys have
/// changed, so that no process serves an old value from its own memory. A cache implements this interface together with
/// <c>IDistributedCache</c>, or an implementation is registered next to the cache.
/// </summary>
/// <remarks>
/// <para>Keys are exactly those that <c>IDistributedCache</c> receives. The stamps of tags are stored under keys too: the invalidation of a tag
/// is a change of its key. Possible implementations use a server's own tracking of keys (RESP3 client tracking in broadcast mode), or publish
/// and subscribe.</para>
/// <para>All members may be called from any thread at any time. <see cref="PublishAsync"/> reports errors as exceptions of any type: Cairn
/// counts them and publishes again later, in order for each key.</para>
/// </remarks>
public interface ICacheInvalidation
{
    /// <summary>
    /// Whether each change made through the <c>IDistributedCache</c> reaches all subscribers without <see cref="PublishAsync"/>, for example
    /// because the server tracks keys, or because a change and its message are one step. If false, Cairn publishes after each change. If a
    /// process then dies between the two, others do not see the change until their entries expire.
    /// </summary>
    bool ReportsChanges { get; }

    /// <summary>Sends a change to all subscribers.</summary>
    /// <param name="change">The change and its sender.</param>
    /// <param name="cancellationToken">Cancelled when the caller no longer waits for the answer.</param>
    /// <returns>A task that completes when the end of this process can no longer lose the message.</returns>
    ValueTask PublishAsync(CacheChange change, CancellationToken cancellationToken);

    /// <summary>Subscribes a receiver to the changes of keys with a prefix. The connection is made in the background, and again whenever it is
    /// lost.</summary>
    /// <param name="keyPrefix">The common prefix of the keys, compared by ordinal; empty for all keys.</param>
    /// <param name="receiver">The receiver of the changes.</param>
    /// <returns>An object whose disposal ends the subscription. No call to the receiver begins after that.</returns>
    IDisposable Subscribe(string keyPrefix, ICacheChangeReceiver receiver);
}
