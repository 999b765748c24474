namespace Cairn.Redis.Invalidation;

/// <summary>Receives the changes of servers for a <see cref="ChangeChannel"/>.</summary>
internal interface IChangeSource : IAsyncDisposable
{
    /// <summary>Starts the source. It calls <see cref="ChangeChannel.OnMessage"/> and the other callbacks from any thread.</summary>
    void Start(ChangeChannel channel);

    /// <summary>Ends the callbacks, before the last call of <see cref="TendAsync"/> has returned.</summary>
    void Stop();

    /// <summary>
    /// Sets up tracking or subscriptions if necessary, then asks each server for a sign of life. Changes that a server had made before have been
    /// reported when the call returns.
    /// </summary>
    /// <param name="prefixes">The prefixes of the keys; no prefix begins with another.</param>
    /// <param name="prefixVersion">The version of the prefixes, which changes with them.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="RedisException">The source does not receive changes.</exception>
    ValueTask<SourceState> TendAsync(IReadOnlyList<string> prefixes, int prefixVersion, CancellationToken cancellationToken);
}
