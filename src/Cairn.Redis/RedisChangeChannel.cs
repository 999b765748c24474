using Cairn.Caching;
using Cairn.Redis.Access;
using Cairn.Redis.Entries;
using Cairn.Redis.Invalidation;
using Cairn.Redis.Refusals;

namespace Cairn.Redis;

/// <summary>
/// Sends change notifications between processes through a Redis server. It is for a hybrid cache whose second level is another
/// <see cref="Microsoft.Extensions.Caching.Distributed.IDistributedCache"/>, such as Microsoft's RedisCache.
/// </summary>
/// <remarks>
/// Uses publish and subscribe. The message follows the change. If a process stops between the two, other processes keep the old entries until
/// these expire. <see cref="CairnRedisCache"/> has no such gap.
/// </remarks>
public sealed class RedisChangeChannel : ICacheInvalidation, IAsyncDisposable, IDisposable
{
    private readonly IRedisAccess _access;
    private readonly string _channelName;
    private readonly PublicationRight _publications;
    private readonly ChangeChannel _channel;

    /// <summary>Creates a channel. It connects at the first call.</summary>
    /// <param name="options">The server and the settings. Applications that share a server use different instance names.</param>
    /// <param name="logger">The logger of connection events; null for no logging.</param>
    /// <exception cref="InvalidOperationException">The options specify no server, or specify it in more than one way.</exception>
    public RedisChangeChannel(CairnRedisOptions options, Microsoft.Extensions.Logging.ILogger<RedisChangeChannel>? logger = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        _access = options.OpenAccess(logger);
        _channelName = CairnRedisCache.ChannelNameOf(options.InstanceName);
        IChangeSource changes = _access.CreateChanges(_channelName, static _ => new(ChannelMode.PublishSubscribe));
        var refusals = new RefusalLog(logger);
        _publications = new PublicationRight(_access, _channelName, refusals);
        _channel = new ChangeChannel(changes, options.InstanceName, self: Guid.Empty, refusals) { Owner = typeof(RedisChangeChannel) };
    }

    /// <inheritdoc/>
    public bool ReportsChanges => false;

    /// <inheritdoc/>
    public ValueTask PublishAsync(CacheChange change, CancellationToken cancellationToken) =>
        _publications.PublishAsync(EntryLayout.Publication(_channelName, change.Sender, change.Key), cancellationToken);

    /// <inheritdoc/>
    public IDisposable Subscribe(string keyPrefix, ICacheChangeReceiver receiver) => _channel.Subscribe(keyPrefix, receiver);

    /// <summary>Closes the connections, unless the caller provided the client.</summary>
    public async ValueTask DisposeAsync()
    {
        await _channel.DisposeAsync().ConfigureAwait(false);
        await _access.DisposeAsync().ConfigureAwait(false);
    }

    /// <inheritdoc cref="DisposeAsync"/>
#pragma warning disable VSTHRD002 // A caller of Dispose, instead of DisposeAsync, expects to block.
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
}
