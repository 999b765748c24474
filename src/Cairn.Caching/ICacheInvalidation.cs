namespace Cairn.Caching;

/// <summary>
/// Tells the processes that share an <see cref="Microsoft.Extensions.Caching.Distributed.IDistributedCache"/> which of its keys were
/// changed, so that none serves an old value from its own memory. A cache implements it beside <c>IDistributedCache</c>, or it is
/// registered beside one.
/// </summary>
/// <remarks>
/// <para>Keys are exactly those that are given to <c>IDistributedCache</c>. What belongs to a tag is kept in entries, too: a tag that was
/// invalidated is a key that was changed. Implementations exist over a server's own tracking of keys (RESP3 client tracking in
/// broadcast mode) and over publish and subscribe.</para>
/// <para>All members may be called from any thread at any time. Errors of <see cref="PublishAsync"/> are exceptions of any type: Cairn
/// counts them and publishes again later, in order for each key.</para>
/// </remarks>
public interface ICacheInvalidation
{
    /// <summary>
    /// Whether each change made through the <c>IDistributedCache</c> reaches all subscribers without <see cref="PublishAsync"/>, as
    /// when the server tracks keys or the change and its message travel as one step. If not, Cairn publishes after each change, and
    /// a process that dies in between leaves others unaware until their entries expire.
    /// </summary>
    bool ReportsChanges { get; }

    /// <summary>Tells all subscribers of a change.</summary>
    /// <param name="change">What was changed, and by whom.</param>
    /// <param name="cancellationToken">Cancelled when nobody waits for the answer any more.</param>
    /// <returns>Completes when the message cannot be lost any more by an end of this process.</returns>
    ValueTask PublishAsync(CacheChange change, CancellationToken cancellationToken);

    /// <summary>Begins to tell a receiver of changes of keys with a prefix. The connection is made, and made again when lost, in the
    /// background.</summary>
    /// <param name="keyPrefix">What all keys of interest begin with, compared by ordinal; empty for all keys.</param>
    /// <param name="receiver">Who is told.</param>
    /// <returns>Ends the subscription when disposed. No call to the receiver begins after that.</returns>
    IDisposable Subscribe(string keyPrefix, ICacheChangeReceiver receiver);
}
