using System.Buffers;
using System.Runtime.CompilerServices;
using Cairn.Caching;
using Cairn.Redis.Connections;
using Cairn.Redis.Entries;
using Cairn.Redis.Invalidation;
using Cairn.Redis.Leasing;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;

namespace Cairn.Redis;

/// <summary>
/// A distributed cache on a Redis server or Cluster, in the layout of Microsoft's RedisCache, so that both read each other's entries.
/// Under a hybrid cache it also tells machines of each other's changes, and lets one of them make a missing value.
/// </summary>
/// <remarks>
/// <para>Safe from any thread. An entry is a hash with the fields <c>absexp</c>, <c>sldexp</c> and <c>data</c> under the instance's name and the key; it
/// is written in one step with its expiration. Expirations are by the server's clock, apart from <c>absexp</c>, which is only looked at to
/// end a sliding one. A sliding expiration is extended when an eighth of it has passed, not at every use.</para>
/// <para>Errors are exceptions: a hybrid cache goes on without its second level, other callers have to expect
/// <see cref="RedisException"/>.</para>
/// </remarks>
public sealed class CairnRedisCache : IDistributedCache, IBufferDistributedCache, ICacheInvalidation, ICacheLeases, IAsyncDisposable, IDisposable
{
    private const int ExtendAfter = 8;

    private readonly bool _isClientOwned;
    private readonly string _instanceName;
    private readonly RedisInvalidationMode _invalidation;
    private readonly string _channelName;
    private readonly Guid _self = Guid.NewGuid();
    private readonly ChangeChannel _channel;
    private readonly RedisLeases _leases;
    private readonly TimeProvider _clock = TimeProvider.System;
    private int _mode = -1;

    /// <summary>Creates one. Nothing is connected to before the first call.</summary>
    /// <param name="options">Which server.</param>
    /// <param name="logger">Is told of connections; null for nobody.</param>
    /// <exception cref="InvalidOperationException">The options name no server, or more than one way to it.</exception>
    /// <exception cref="FormatException">The configuration cannot be read.</exception>
    public CairnRedisCache(CairnRedisOptions options, ILogger<CairnRedisCache>? logger = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        Client = options.OpenClient(logger, out _isClientOwned);
        _instanceName = options.InstanceName;
        _invalidation = options.Invalidation;
        _channelName = ChannelNameOf(_instanceName);
        _leases = new RedisLeases(Client);
        _channel = new ChangeChannel(Client, _instanceName, _channelName, _self, ModeAsync);
    }

    /// <summary>The client that is used.</summary>
    public RedisClient Client { get; }

    /// <summary>True while changes that other processes make are heard of; false also if nobody asked for them.</summary>
    public bool IsHearingChanges => _channel.IsHearing;

    bool ICacheInvalidation.ReportsChanges => true;

    bool ICacheLeases.ChecksValue => true;

    bool ICacheLeases.ChangesEndLeases => true;

    /// <summary>A copy of a key's value. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <returns>The value; null if there is none.</returns>
    /// <exception cref="RedisException">The server could not be asked, or replied with an error.</exception>
    public byte[]? Get(string key) => Wait(GetAsync(key));

    /// <summary>A copy of a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="token">Ends the wait.</param>
    /// <returns>The value; null if there is none.</returns>
    /// <exception cref="RedisException">The server could not be asked, or replied with an error.</exception>
    public async Task<byte[]?> GetAsync(string key, CancellationToken token = default)
    {
        string serverKey = ServerKey(key);
        (EntryHead head, byte[]? data) = await Client
            .SendAsync(EntryLayout.Read, null, ["HMGET", serverKey, "absexp", "sldexp", "data"], 1, token).ConfigureAwait(false);
        if (head.Slides)
        {
            await ExtendAsync(serverKey, head, isRequired: false, token).ConfigureAwait(false);
        }

        return data;
    }

    /// <summary>Writes a key's value to a buffer. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">Where to. Nothing is added if the result is false.</param>
    /// <returns>True if there is a value.</returns>
    /// <exception cref="RedisException">The server could not be asked, or replied with an error.</exception>
    public bool TryGet(string key, IBufferWriter<byte> destination) => Wait(TryGetAsync(key, destination).AsTask());

    /// <summary>Writes a key's value to a buffer, straight from what was received.</summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">Where to. Nothing is added if the result is false.</param>
    /// <param name="token">Ends the wait. Nothing is written after the call has completed.</param>
    /// <returns>True if there is a value.</returns>
    /// <exception cref="RedisException">The server could not be asked, or replied with an error.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<bool> TryGetAsync(string key, IBufferWriter<byte> destination, CancellationToken token = default)
    {
        ArgumentNullException.ThrowIfNull(destination);
        string serverKey = ServerKey(key);
        EntryHead head = await Client
            .SendAsync(EntryLayout.ReadInto, destination, ["HMGET", serverKey, "absexp", "sldexp", "data"], 1, token).ConfigureAwait(false);
        if (head.Slides)
        {
            await ExtendAsync(serverKey, head, isRequired: false, token).ConfigureAwait(false);
        }

        return head.IsFound;
    }

    /// <summary>Stores a value, replacing any earlier one. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="options">When it expires; not at all by default. A moment that has passed removes the key.</param>
    /// <exception cref="RedisException">The server could not be asked, or replied with an error. If it was not <see cref="RedisServerException"/>, the value may have been stored all the same.</exception>
    public void Set(string key, byte[] value, DistributedCacheEntryOptions options) => Wait(SetAsync(key, value, options));

    /// <summary>Stores a value, replacing any earlier one.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value; it must not change until the call has completed.</param>
    /// <param name="options">When it expires; not at all by default. A moment that has passed removes the key.</param>
    /// <param name="token">Ends the wait; the value may be stored all the same.</param>
    /// <exception cref="RedisException">As in <see cref="Set(string, byte[], DistributedCacheEntryOptions)"/>.</exception>
    public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default)
    {
        ArgumentNullException.ThrowIfNull(value);
        return StoreAsync(key, value, options, token).AsTask();
    }

    /// <inheritdoc cref="Set(string, byte[], DistributedCacheEntryOptions)"/>
    public void Set(string key, ReadOnlySequence<byte> value, DistributedCacheEntryOptions options) => Wait(SetAsync(key, value, options).AsTask());

    /// <inheritdoc cref="SetAsync(string, byte[], DistributedCacheEntryOptions, CancellationToken)"/>
    public ValueTask SetAsync(string key, ReadOnlySequence<byte> value, DistributedCacheEntryOptions options, CancellationToken token = default) =>
        StoreAsync(key, new RedisArgument(value), options, token);

    /// <summary>Extends the life of a key's value, if its expiration slides. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="RedisException">The server could not be asked, or replied with an error.</exception>
    public void Refresh(string key) => Wait(RefreshAsync(key));

    /// <summary>Extends the life of a key's value, if its expiration slides.</summary>
    /// <param name="key">The key.</param>
    /// <param name="token">Ends the wait.</param>
    /// <exception cref="RedisException">The server could not be asked, or replied with an error.</exception>
    public async Task RefreshAsync(string key, CancellationToken token = default)
    {
        string serverKey = ServerKey(key);
        EntryHead head = await Client.SendAsync(EntryLayout.ReadHead, null, ["HMGET", serverKey, "absexp", "sldexp"], 1, token).ConfigureAwait(false);
        if (head.Slides)
        {
            await ExtendAsync(serverKey, head, isRequired: true, token).ConfigureAwait(false);
        }
    }

    /// <summary>Removes a key's value. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="RedisException">As in <see cref="Set(string, byte[], DistributedCacheEntryOptions)"/>.</exception>
    public void Remove(string key) => Wait(RemoveAsync(key));

    /// <summary>Removes a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="token">Ends the wait; the value may be removed all the same.</param>
    /// <exception cref="RedisException">As in <see cref="Set(string, byte[], DistributedCacheEntryOptions)"/>.</exception>
    public async Task RemoveAsync(string key, CancellationToken token = default)
    {
        string serverKey = ServerKey(key);
        string leaseKey = EntryLayout.LeaseKey(serverKey);
        if (await ModeAsync(token).ConfigureAwait(false) == ChannelMode.PublishSubscribe)
        {
            await Client.SendManyAsync(
                Parsers.Transaction, null, [["MULTI"], ["UNLINK", serverKey, leaseKey], Publication(key), ["EXEC"]], serverKey, token).ConfigureAwait(false);
        }
        else
        {
            await Client.SendAsync(Parsers.Number, null, ["UNLINK", serverKey, leaseKey], 1, token).ConfigureAwait(false);
        }
    }

    /// <summary>Closes the connections, unless the client is the caller's.</summary>
    public async ValueTask DisposeAsync()
    {
        await _channel.DisposeAsync().ConfigureAwait(false);
        await _leases.DisposeAsync().ConfigureAwait(false);
        if (_isClientOwned)
        {
            await Client.DisposeAsync().ConfigureAwait(false);
        }
    }

    /// <inheritdoc cref="DisposeAsync"/>
#pragma warning disable VSTHRD002 // Who calls this instead of DisposeAsync wants to wait.
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    async ValueTask ICacheInvalidation.PublishAsync(CacheChange change, CancellationToken cancellationToken) =>
        await Client.ExecuteAsync(["PUBLISH", _channelName, EntryLayout.Message(change.Sender, change.Key)], cancellationToken).ConfigureAwait(false);

    IDisposable ICacheInvalidation.Subscribe(string keyPrefix, ICacheChangeReceiver receiver) => _channel.Subscribe(keyPrefix, receiver);

    ValueTask<CacheLeaseStatus> ICacheLeases.TryAcquireAsync(
        string key, string owner, TimeSpan duration, bool onlyIfMissing, CancellationToken cancellationToken)
    {
        string serverKey = ServerKey(key);
        return _leases.TryAcquireAsync(serverKey, EntryLayout.LeaseKey(serverKey), owner, duration, onlyIfMissing, cancellationToken);
    }

    ValueTask<bool> ICacheLeases.TryRenewAsync(string key, string owner, TimeSpan duration, CancellationToken cancellationToken) =>
        _leases.TryRenewAsync(EntryLayout.LeaseKey(ServerKey(key)), owner, duration, cancellationToken);

    async ValueTask ICacheLeases.ReleaseAsync(string key, string owner, CancellationToken cancellationToken) =>
        await _leases.ReleaseAsync(EntryLayout.LeaseKey(ServerKey(key)), owner, cancellationToken).ConfigureAwait(false);

    async ValueTask ICacheLeases.EndAsync(string key, CancellationToken cancellationToken) =>
        await Client.DeleteAsync(EntryLayout.LeaseKey(ServerKey(key)), cancellationToken).ConfigureAwait(false);

    ValueTask<bool> ICacheLeases.WaitForReleaseAsync(string key, CancellationToken cancellationToken) => _channel.WaitForChangeAsync(key, cancellationToken);

    async ValueTask<CacheLeaseStatus> ICacheLeases.TrySetAsync(
        string key, string owner, ReadOnlyMemory<byte> value, DistributedCacheEntryOptions options, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(options);
        string serverKey = ServerKey(key);
        if (EntryLayout.TimesOf(options, _clock.GetUtcNow()) is not { } times)
        {
            return CacheLeaseStatus.NotSupported; // A set that removes.
        }

        RedisArgument[]? publication = await ModeAsync(cancellationToken).ConfigureAwait(false) == ChannelMode.PublishSubscribe
            ? [_channelName, EntryLayout.Message(_self, key)]
            : null;
        return await _leases.TrySetAsync(
            serverKey, EntryLayout.LeaseKey(serverKey), owner, times, value, publication, cancellationToken).ConfigureAwait(false)
            ? CacheLeaseStatus.Acquired
            : CacheLeaseStatus.Held;
    }

    internal static string ChannelNameOf(string instanceName) => "cairn:changes:" + instanceName;

    private string ServerKey(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return _instanceName.Length == 0 ? key : _instanceName + key;
    }

    private RedisArgument[] Publication(string key) => ["PUBLISH", _channelName, EntryLayout.Message(_self, key)];

    private async ValueTask StoreAsync(string key, RedisArgument value, DistributedCacheEntryOptions options, CancellationToken token)
    {
        ArgumentNullException.ThrowIfNull(options);
        string serverKey = ServerKey(key);
        if (EntryLayout.TimesOf(options, _clock.GetUtcNow()) is not { } times)
        {
            await RemoveAsync(key, token).ConfigureAwait(false);
            return;
        }

        bool publishes = await ModeAsync(token).ConfigureAwait(false) == ChannelMode.PublishSubscribe;
        RedisReply[]? replies = await Client.SendManyAsync(
            Parsers.Transaction,
            null,
            [
                ["MULTI"],
                ["HSET", serverKey, "absexp", times.AbsoluteTicks, "sldexp", times.SlidingTicks, "data", value],
                times.LifeMs is { } life ? ["PEXPIRE", serverKey, life] : ["PERSIST", serverKey],
                ["UNLINK", EntryLayout.LeaseKey(serverKey)],
                .. publishes ? [Publication(key)] : Array.Empty<RedisArgument[]>(),
                ["EXEC"],
            ],
            serverKey,
            token).ConfigureAwait(false);
        if (replies is null)
        {
            throw new RedisException("The server gave up the transaction that stores the value.");
        }
    }

    // Only now and then: each time is a change of the key, of which other processes are told.
    private async ValueTask ExtendAsync(string serverKey, EntryHead head, bool isRequired, CancellationToken token)
    {
        long lifeMs = head.LifeMs(_clock.GetUtcNow());
        try
        {
            long leftMs = await Client.SendAsync(Parsers.Number, null, ["PTTL", serverKey], 1, token).ConfigureAwait(false);
            if (leftMs == -2 || leftMs >= lifeMs - (lifeMs / ExtendAfter) || lifeMs <= 0)
            {
                return;
            }

            await Client.SendAsync(Parsers.Number, null, ["PEXPIRE", serverKey, lifeMs], 1, token).ConfigureAwait(false);
        }
        catch (RedisException) when (!isRequired)
        {
            // The value was read. Whether it lives longer is decided at its next use.
        }
    }

    private ValueTask<ChannelMode> ModeAsync(CancellationToken cancellationToken) =>
        Volatile.Read(ref _mode) is var mode and >= 0 ? new((ChannelMode)mode) : FindModeAsync(cancellationToken);

    private async ValueTask<ChannelMode> FindModeAsync(CancellationToken cancellationToken)
    {
        ChannelMode mode = ChannelMode.PublishSubscribe;
        if (_invalidation != RedisInvalidationMode.PublishSubscribe)
        {
            try
            {
                // Garnet, and servers from before version 6.2, do not know it.
                await Client.ExecuteAsync(["CLIENT", "TRACKINGINFO"], cancellationToken).ConfigureAwait(false);
                mode = Client.GetHealth().Servers.Any(server => server.ProtocolVersion == 2) ? ChannelMode.RedirectedTracking : ChannelMode.Tracking;
            }
            catch (RedisServerException refusal) when (_invalidation == RedisInvalidationMode.Automatic || refusal.Code == "LOADING")
            {
                if (refusal.Code == "LOADING")
                {
                    throw;
                }
            }
        }

        // The first answer counts for the life of the cache: writers and listeners have to agree.
        return (ChannelMode)(Interlocked.CompareExchange(ref _mode, (int)mode, -1) is var first and >= 0 ? first : (int)mode);
    }

#pragma warning disable VSTHRD002 // IDistributedCache has methods that wait, and who calls them wants to.
    private T Wait<T>(Task<T> task)
    {
        Client.FlushHeldBack();
        return task.GetAwaiter().GetResult();
    }

    private void Wait(Task task)
    {
        Client.FlushHeldBack();
        task.GetAwaiter().GetResult();
    }
#pragma warning restore VSTHRD002
}
