using Cairn.Caching;
using Cairn.Caching.Records;
using Cairn.Clients.Caches;
using Cairn.Redis.Access;
using Cairn.Redis.Entries;
using Cairn.Redis.Invalidation;
using Cairn.Redis.Leasing;
using Cairn.Redis.Refusals;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;

namespace Cairn.Redis;

/// <summary>
/// A distributed cache on a Redis server or Cluster, in the layout of Microsoft's RedisCache, so that each library reads the other's entries.
/// Under a hybrid cache it also sends invalidations between machines and provides leases, so that only one machine creates a missing value.
/// </summary>
/// <remarks>
/// <para>Safe from any thread. An entry is a hash with the fields <c>absexp</c>, <c>sldexp</c> and <c>data</c>, or a string with
/// <see cref="CairnRedisOptions.PlainValues"/>. Its key is the instance name followed by the cache key. The entry and its expiration are written
/// in one transaction. The server's clock decides when an entry expires; <c>absexp</c> only limits how far a sliding expiration is extended. A
/// sliding expiration is extended after an eighth of it has passed, not at every read.</para>
/// <para>Errors are exceptions. A hybrid cache continues without its second level; other callers must expect
/// <see cref="RedisException"/>.</para>
/// </remarks>
public sealed class CairnRedisCache : IDistributedCache, IBufferDistributedCache, ICacheInvalidation, ICacheLeases, ICacheKeys, IPlainValues, IAsyncDisposable, IDisposable
{
    private const int ExtendAfter = 8;

    private readonly IRedisAccess _access;
    private readonly string _instanceName;
    private readonly RedisInvalidationMode _invalidation;
    private readonly string _channelName;
    private readonly Guid _self = Guid.NewGuid();
    private readonly ChangeChannel _channel;
    private readonly RedisLeases _leases;
    private readonly EntryLayout _layout;
    private readonly PublicationRight _publications;
    private readonly TimeProvider _clock = TimeProvider.System;
    private int _mode = -1;

    /// <summary>Creates a cache. It connects at the first call.</summary>
    /// <param name="options">The server and the settings.</param>
    /// <param name="logger">The logger of connection events; null for no logging.</param>
    /// <exception cref="InvalidOperationException">The options specify no server, or specify it in more than one way.</exception>
    /// <exception cref="FormatException">The configuration is malformed.</exception>
    public CairnRedisCache(CairnRedisOptions options, ILogger<CairnRedisCache>? logger = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        _access = options.OpenAccess(logger);
        _instanceName = options.InstanceName;
        _invalidation = options.Invalidation;
        _channelName = ChannelNameOf(_instanceName);
        _layout = options.PlainValues ? EntryLayout.Plain : EntryLayout.Microsofts;
        var refusals = new RefusalLog(logger);
        _publications = new PublicationRight(_access, _channelName, refusals);
        _leases = new RedisLeases(_access, _layout, refusals);
        _channel = new ChangeChannel(_access.CreateChanges(_channelName, ModeAsync), _instanceName, _self, refusals) { Owner = typeof(CairnRedisCache) };
    }

    /// <summary>Gets the client that the cache uses; null if it uses an <c>IConnectionMultiplexer</c> of StackExchange.Redis.</summary>
    public RedisClient? Client => _access.Client;

    /// <summary>Gets whether this process currently receives the changes of other processes. False if the cache has no subscriber.</summary>
    public bool IsReceivingChanges => _channel.IsReceiving;

    bool IPlainValues.StoresPlainValues => _layout.IsPlain;

    bool ICacheInvalidation.ReportsChanges => true;

    bool ICacheLeases.ChecksValue => true;

    bool ICacheLeases.ChangesEndLeases => true;

    /// <summary>Returns a copy of a key's value. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <returns>The value; null if there is none.</returns>
    /// <exception cref="RedisException">The server cannot be reached, or it replies with an error.</exception>
    public byte[]? Get(string key) => Wait(GetAsync(key));

    /// <summary>Returns a copy of a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="token">Cancels the wait.</param>
    /// <returns>The value; null if there is none.</returns>
    /// <exception cref="RedisException">The server cannot be reached, or it replies with an error.</exception>
    public async Task<byte[]?> GetAsync(string key, CancellationToken token = default)
    {
        string serverKey = ServerKey(key);
        (EntryHead head, byte[]? data) = await _access.ReadAsync(_layout, serverKey, token).ConfigureAwait(false);
        if (head.Slides)
        {
            await ExtendAsync(serverKey, head, isRequired: false, token).ConfigureAwait(false);
        }

        return data;
    }

    /// <summary>Writes a key's value to a buffer. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">The buffer for the value. It stays unchanged if the result is false.</param>
    /// <returns>True if there is a value.</returns>
    /// <exception cref="RedisException">The server cannot be reached, or it replies with an error.</exception>
    public bool TryGet(string key, IBufferWriter<byte> destination) => Wait(TryGetAsync(key, destination).AsTask());

    /// <summary>Writes a key's value to a buffer, directly from the receive buffer.</summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">The buffer for the value. It stays unchanged if the result is false.</param>
    /// <param name="token">Cancels the wait. The buffer is not written to after the call completes.</param>
    /// <returns>True if there is a value.</returns>
    /// <exception cref="RedisException">The server cannot be reached, or it replies with an error.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<bool> TryGetAsync(string key, IBufferWriter<byte> destination, CancellationToken token = default)
    {
        ArgumentNullException.ThrowIfNull(destination);
        string serverKey = ServerKey(key);
        EntryHead head = await _access.ReadAsync(_layout, serverKey, destination, token).ConfigureAwait(false);
        if (head.Slides)
        {
            await ExtendAsync(serverKey, head, isRequired: false, token).ConfigureAwait(false);
        }

        return head.IsFound;
    }

    /// <summary>Stores a value, replacing any earlier one. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="options">The expiration; by default the value does not expire. A time in the past removes the key.</param>
    /// <exception cref="RedisException">
    /// The server cannot be reached, or it replies with an error. Unless it is a <see cref="RedisServerException"/>, the value may have been stored
    /// anyway.
    /// </exception>
    public void Set(string key, byte[] value, DistributedCacheEntryOptions options) => Wait(SetAsync(key, value, options));

    /// <summary>Stores a value, replacing any earlier one.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value; it must not change until the call completes.</param>
    /// <param name="options">The expiration; by default the value does not expire. A time in the past removes the key.</param>
    /// <param name="token">Cancels the wait; the value may be stored anyway.</param>
    /// <exception cref="RedisException">
    /// The server cannot be reached, or it replies with an error. Unless it is a <see cref="RedisServerException"/>, the value may have been stored
    /// anyway.
    /// </exception>
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

    /// <summary>Extends the lifetime of a key's value if it has a sliding expiration. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="RedisException">The server cannot be reached, or it replies with an error.</exception>
    public void Refresh(string key) => Wait(RefreshAsync(key));

    /// <summary>Extends the lifetime of a key's value if it has a sliding expiration.</summary>
    /// <param name="key">The key.</param>
    /// <param name="token">Cancels the wait.</param>
    /// <exception cref="RedisException">The server cannot be reached, or it replies with an error.</exception>
    public async Task RefreshAsync(string key, CancellationToken token = default)
    {
        string serverKey = ServerKey(key);
        EntryHead head = await _access.ReadHeadAsync(_layout, serverKey, token).ConfigureAwait(false);
        if (head.Slides)
        {
            await ExtendAsync(serverKey, head, isRequired: true, token).ConfigureAwait(false);
        }
    }

    /// <summary>Removes a key's value. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="RedisException">
    /// The server cannot be reached, or it replies with an error. Unless it is a <see cref="RedisServerException"/>, the value may have been removed
    /// anyway.
    /// </exception>
    public void Remove(string key) => Wait(RemoveAsync(key));

    /// <summary>Removes a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="token">Cancels the wait; the value may be removed anyway.</param>
    /// <exception cref="RedisException">
    /// The server cannot be reached, or it replies with an error. Unless it is a <see cref="RedisServerException"/>, the value may have been removed
    /// anyway.
    /// </exception>
    public async Task RemoveAsync(string key, CancellationToken token = default)
    {
        string serverKey = ServerKey(key);
        RedisArgument[] removeCompanions = _layout.RemoveCompanions(serverKey);
        if (await ModeAsync(token).ConfigureAwait(false) == ChannelMode.PublishSubscribe)
        {
            RedisArgument[] remove = [.. removeCompanions, serverKey];
            if (!await _publications.IsGrantedAsync(token).ConfigureAwait(false))
            {
                await _access.NumberAsync(remove, 1, token).ConfigureAwait(false);
                return;
            }

            try
            {
                await _access.TransactAsync([remove, Publication(key)], serverKey, token).ConfigureAwait(false);
            }
            catch (RedisServerException refusal) when (refusal.Code == "OOM" || refusal.IsOfRights)
            {
                // A server that is out of memory refuses every transaction, even one that only removes.
                _publications.OnRefused();
                await _access.NumberAsync(remove, 1, token).ConfigureAwait(false);
                await _publications.PublishAsync(Publication(key), token).ConfigureAwait(false);
            }
        }
        else
        {
            // No transaction here: a server that is out of memory refuses every transaction, even one that only removes.
            ValueTask<long> removingCompanions = _access.NumberAsync(removeCompanions, 1, token);
            long removed;
            try
            {
                removed = await _access.NumberAsync(["UNLINK", serverKey], 1, token).ConfigureAwait(false);
            }
            finally
            {
                await removingCompanions.ConfigureAwait(false);
            }

            if (removed == 0)
            {
                await TellOfRemovalAsync(serverKey, token).ConfigureAwait(false);
            }
        }
    }

    /// <summary>Gets the access to the server, for the health check.</summary>
    internal IRedisAccess Access => _access;

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

    async ValueTask ICacheInvalidation.PublishAsync(CacheChange change, CancellationToken cancellationToken) =>
        await _publications.PublishAsync(EntryLayout.Publication(_channelName, change.Sender, change.Key), cancellationToken).ConfigureAwait(false);

    IDisposable ICacheInvalidation.Subscribe(string keyPrefix, ICacheChangeReceiver receiver) => _channel.Subscribe(keyPrefix, receiver);

    async IAsyncEnumerable<string> ICacheKeys.ListKeysAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await foreach (string key in _access.ScanAsync(EntryLayout.PatternOf(_instanceName), cancellationToken).ConfigureAwait(false))
        {
            // Without an instance name, the keys of leases and heads match too.
            if (!EntryLayout.IsCompanion(key))
            {
                yield return key[_instanceName.Length..];
            }
        }
    }

    IDisposable ICacheKeys.SubscribeToKeys(Action<string?> changed)
    {
        ArgumentNullException.ThrowIfNull(changed);
        return _channel.Subscribe(string.Empty, new KeyChanges(changed));
    }

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
        await _access.NumberAsync(["DEL", EntryLayout.LeaseKey(ServerKey(key))], 1, cancellationToken).ConfigureAwait(false);

    ValueTask<bool> ICacheLeases.WaitForReleaseAsync(string key, CancellationToken cancellationToken) => _channel.WaitForChangeAsync(key, cancellationToken);

    async ValueTask<CacheLeaseStatus> ICacheLeases.TrySetAsync(
        string key, string owner, ReadOnlyMemory<byte> value, DistributedCacheEntryOptions options, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(options);
        string serverKey = ServerKey(key);
        if (EntryTimes.Of(options, _clock.GetUtcNow()) is not { } times)
        {
            return CacheLeaseStatus.NotSupported; // The entry has expired already, so the set is a removal.
        }

        RedisArgument[]? publication = await PublishesAsync(cancellationToken).ConfigureAwait(false) ? Publication(key) : null;
        return await _publications.WatchAsync(
            _leases.TrySetAsync(serverKey, EntryLayout.LeaseKey(serverKey), owner, times, value, publication, cancellationToken)).ConfigureAwait(false)
            ? CacheLeaseStatus.Acquired
            : CacheLeaseStatus.Held;
    }

    internal static string ChannelNameOf(string instanceName) => "cairn:changes:" + instanceName;

    private string ServerKey(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return _instanceName.Length == 0 ? key : _instanceName + key;
    }

    private async ValueTask<bool> PublishesAsync(CancellationToken cancellationToken) =>
        await ModeAsync(cancellationToken).ConfigureAwait(false) == ChannelMode.PublishSubscribe
        && await _publications.IsGrantedAsync(cancellationToken).ConfigureAwait(false);

    private RedisArgument[] Publication(string key) => EntryLayout.Publication(_channelName, _self, key);

    private async ValueTask StoreAsync(string key, RedisArgument value, DistributedCacheEntryOptions options, CancellationToken token)
    {
        ArgumentNullException.ThrowIfNull(options);
        string serverKey = ServerKey(key);
        if (EntryTimes.Of(options, _clock.GetUtcNow()) is not { } times)
        {
            await RemoveAsync(key, token).ConfigureAwait(false);
            return;
        }

        bool publishes = await PublishesAsync(token).ConfigureAwait(false);
        RedisReply[]? replies = await _publications.WatchAsync(_access.TransactAsync(
            [
                .. _layout.Store(serverKey, value, times),
                .. publishes ? [Publication(key)] : Array.Empty<RedisArgument[]>(),
            ],
            serverKey,
            token)).ConfigureAwait(false);
        if (replies is null)
        {
            throw new RedisException("The server gave up the transaction that stores the value.");
        }
    }

    // A server that tracks keys reports changes only. Removing a key that the server does not have is no change, yet other processes may hold a
    // value of that key in memory. So this method creates the key and removes it.
    private async ValueTask TellOfRemovalAsync(string serverKey, CancellationToken token)
    {
        try
        {
            await _access.TransactAsync([["SET", serverKey, ""], ["UNLINK", serverKey]], serverKey, token).ConfigureAwait(false);
        }
        catch (RedisServerException refusal) when (refusal.Code is "OOM" or "EXECABORT" && !_channel.IsInUse)
        {
            // The server has no memory for a new key. Only a hybrid cache depends on the notification and must try again.
        }
    }

    // Extends only after an eighth of the lifetime: each extension changes the key, and other processes receive a notification of it.
    private async ValueTask ExtendAsync(string serverKey, EntryHead head, bool isRequired, CancellationToken token)
    {
        long lifeMs = head.LifeMs(_clock.GetUtcNow());
        try
        {
            long leftMs = await _access.NumberAsync(["PTTL", serverKey], 1, token).ConfigureAwait(false);
            if (leftMs == -2 || leftMs >= lifeMs - (lifeMs / ExtendAfter) || lifeMs <= 0)
            {
                return;
            }

            await _access.TransactAsync(_layout.Expire(serverKey, lifeMs), serverKey, token).ConfigureAwait(false);
        }
        catch (RedisException) when (!isRequired)
        {
            // The read itself succeeded. The next read tries to extend again.
        }
    }

    private ValueTask<ChannelMode> ModeAsync(CancellationToken cancellationToken) =>
        Volatile.Read(ref _mode) is var mode and >= 0 ? new((ChannelMode)mode) : FindModeAsync(cancellationToken);

    private async ValueTask<ChannelMode> FindModeAsync(CancellationToken cancellationToken)
    {
        ChannelMode mode = await _access.FindModeAsync(_invalidation, cancellationToken).ConfigureAwait(false);

        // The first result stays in effect for the life of the cache: writers and listeners must use the same mode.
        return (ChannelMode)(Interlocked.CompareExchange(ref _mode, (int)mode, -1) is var first and >= 0 ? first : (int)mode);
    }

#pragma warning disable VSTHRD002 // The synchronous methods of IDistributedCache block by contract.
    private T Wait<T>(Task<T> task)
    {
        _access.FlushHeldBack();
        return task.GetAwaiter().GetResult();
    }

    private void Wait(Task task)
    {
        _access.FlushHeldBack();
        task.GetAwaiter().GetResult();
    }
#pragma warning restore VSTHRD002
}
