using Cairn.Caching;
using Cairn.Redis.Entries;
using Cairn.Redis.Invalidation;

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
    private readonly RedisClient _client;
    private readonly bool _isClientOwned;
    private readonly string _channelName;
    private readonly ChangeChannel _channel;

    /// <summary>Creates a channel. It connects at the first call.</summary>
    /// <param name="options">The server and the settings. Applications that share a server use different instance names.</param>
    /// <param name="logger">The logger of connection events; null for no logging.</param>
    /// <exception cref="InvalidOperationException">The options specify no server, or specify it in more than one way.</exception>
    public RedisChangeChannel(CairnRedisOptions options, Microsoft.Extensions.Logging.ILogger<RedisChangeChannel>? logger = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        _client = options.OpenClient(logger, out _isClientOwned);
        _channelName = CairnRedisCache.ChannelNameOf(options.InstanceName);
        _channel = new ChangeChannel(_client, options.InstanceName, _channelName, Guid.Empty, ModeAsync) { Owner = typeof(CairnRedisCache) };
    }

    /// <inheritdoc/>
    public bool ReportsChanges => false;

    /// <inheritdoc/>
    public async ValueTask PublishAsync(CacheChange change, CancellationToken cancellationToken) =>
        await _client.ExecuteAsync(["PUBLISH", _channelName, EntryLayout.Message(change.Sender, change.Key)], cancellationToken).ConfigureAwait(false);

    /// <inheritdoc/>
    public IDisposable Subscribe(string keyPrefix, ICacheChangeReceiver receiver) => _channel.Subscribe(keyPrefix, receiver);

    /// <summary>Closes the connections, unless the caller provided the client.</summary>
    public async ValueTask DisposeAsync()
    {
        await _channel.DisposeAsync().ConfigureAwait(false);
        if (_isClientOwned)
        {
            await _client.DisposeAsync().ConfigureAwait(false);
        }
    }

    /// <inheritdoc cref="DisposeAsync"/>
#pragma warning disable VSTHRD002 // A caller of Dispose, instead of DisposeAsync, expects to block.
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    private async ValueTask<ChannelMode> ModeAsync(CancellationToken cancellationToken)
    {
        // The client knows the servers only after it has reached one of them.
        await _client.ConnectAsync(cancellationToken).ConfigureAwait(false);
        return ChannelMode.PublishSubscribe;
    }
}
