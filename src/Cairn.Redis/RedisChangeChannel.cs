using Cairn.Caching;
using Cairn.Redis.Entries;
using Cairn.Redis.Invalidation;

namespace Cairn.Redis;

/// <summary>
/// Tells processes of each other's changes by way of a Redis server, for a hybrid cache whose second level is another
/// <see cref="Microsoft.Extensions.Caching.Distributed.IDistributedCache"/>, such as Microsoft's RedisCache.
/// </summary>
/// <remarks>
/// By publish and subscribe: the message of a change follows the change, and a process that dies between the two leaves others unaware until
/// their entries expire. <see cref="CairnRedisCache"/> has no such gap.
/// </remarks>
public sealed class RedisChangeChannel : ICacheInvalidation, IAsyncDisposable, IDisposable
{
    private readonly RedisClient _client;
    private readonly bool _isClientOwned;
    private readonly string _channelName;
    private readonly ChangeChannel _channel;

    /// <summary>Creates one. Nothing is connected to before the first call.</summary>
    /// <param name="options">Which server; the instance's name tells applications apart.</param>
    /// <param name="logger">Is told of connections; null for nobody.</param>
    /// <exception cref="InvalidOperationException">The options name no server, or more than one way to it.</exception>
    public RedisChangeChannel(CairnRedisOptions options, Microsoft.Extensions.Logging.ILogger<RedisChangeChannel>? logger = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        _client = options.OpenClient(logger, out _isClientOwned);
        _channelName = CairnRedisCache.ChannelNameOf(options.InstanceName);
        _channel = new ChangeChannel(_client, options.InstanceName, _channelName, Guid.Empty, ModeAsync);
    }

    /// <inheritdoc/>
    public bool ReportsChanges => false;

    /// <inheritdoc/>
    public async ValueTask PublishAsync(CacheChange change, CancellationToken cancellationToken) =>
        await _client.ExecuteAsync(["PUBLISH", _channelName, EntryLayout.Message(change.Sender, change.Key)], cancellationToken).ConfigureAwait(false);

    /// <inheritdoc/>
    public IDisposable Subscribe(string keyPrefix, ICacheChangeReceiver receiver) => _channel.Subscribe(keyPrefix, receiver);

    /// <summary>Closes the connections, unless the client is the caller's.</summary>
    public async ValueTask DisposeAsync()
    {
        await _channel.DisposeAsync().ConfigureAwait(false);
        if (_isClientOwned)
        {
            await _client.DisposeAsync().ConfigureAwait(false);
        }
    }

    /// <inheritdoc cref="DisposeAsync"/>
#pragma warning disable VSTHRD002 // Who calls this instead of DisposeAsync wants to wait.
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    private async ValueTask<ChannelMode> ModeAsync(CancellationToken cancellationToken)
    {
        // Which servers there are is known once one was reached.
        await _client.ConnectAsync(cancellationToken).ConfigureAwait(false);
        return ChannelMode.PublishSubscribe;
    }
}
