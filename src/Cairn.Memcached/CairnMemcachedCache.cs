using System.Collections.Concurrent;
using System.Net;
using System.Security.Cryptography;
using Cairn.Caching;
using Cairn.Clients.Caches;
using Cairn.Clients.Nodes;
using Cairn.Memcached.Ring;
using Cairn.Memcached.Servers;
using Cairn.Protocol;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Memcached;

/// <summary>
/// A distributed cache on a ring of memcached or Cairn servers. Under a hybrid cache it also provides leases, so that only one machine
/// creates a missing value. It cannot report the changes of other machines, because memcached has no notifications.
/// </summary>
/// <remarks>
/// <para>Safe from any thread. Ketama hashing assigns each key to one server. A server that fails is ejected, and the next server on the ring
/// takes its keys until it returns. <see cref="CairnMemcachedOptions"/> says how the cache avoids reading old values after that. Each process
/// ejects servers on its own: while only some processes reach a server, processes can read different values for its keys.</para>
/// <para>Expirations are rounded up to seconds, memcached's unit. A key that memcached does not accept (longer than 250 bytes, or with spaces)
/// is replaced by its SHA-256 hash. The servers limit the length of a value, by default to 1 MiB.</para>
/// <para>Leases use the meta commands. The first caller that asks for a missing key creates an empty entry (vivify). An existing entry is marked
/// as stale. A set with a lease is a compare-and-swap with the version that the lease holds. Servers without meta commands provide no
/// leases.</para>
/// </remarks>
public sealed class CairnMemcachedCache : IDistributedCache, IBufferDistributedCache, ICacheLeases, IAsyncDisposable, IDisposable
{
    private const int DefaultPort = 11211;
    private const int HeaderBytes = 16;
    private const long LongestRelativeSeconds = 30 * 24 * 3600;

    // The client flags say which form the value has. An entry without flags and bytes was created for a lease.
    private const uint PlainForm = 0xCA1;
    private const uint SlidingForm = 0xCA2;

    private readonly CairnMemcachedOptions _options;
    private readonly MemcachedServer[] _servers;
    private readonly KetamaRing _ring;
    private readonly TimeProvider _clock = TimeProvider.System;
    private readonly ConcurrentDictionary<(string Key, string Owner), HeldLease> _leases = new();

    /// <summary>Creates a cache. It connects at the first call.</summary>
    /// <param name="options">The servers and the settings.</param>
    /// <param name="logger">The logger of connection events; null for no logging.</param>
    /// <exception cref="InvalidOperationException">The options name no server, or a value is out of range.</exception>
    /// <exception cref="FormatException">The name of a server is malformed.</exception>
    public CairnMemcachedCache(CairnMemcachedOptions options, ILogger<CairnMemcachedCache>? logger = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        _options = options;
        EndPoint[] places = [.. options.Servers.Select(server => EndPointText.Parse(server.Trim(), DefaultPort))];
        _ring = new KetamaRing(places);
        var factory = new MemcachedConnectionFactory(options, typeof(CairnMemcachedCache));
        ILogger log = (ILogger?)logger ?? NullLogger.Instance;
        _servers = [.. places.Select(place => new MemcachedServer(new ServerNode([place], factory, log, onPush: null), options))];
    }

    bool ICacheLeases.ChecksValue => true;

    bool ICacheLeases.ChangesEndLeases => true;

    /// <summary>Gets the names of the servers that are currently ejected.</summary>
    public IReadOnlyList<string> EjectedServers => [.. _servers.Where(server => !server.IsServing).Select(server => server.Name)];

    /// <summary>Returns a copy of a key's value. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <returns>The value; null if there is none.</returns>
    /// <exception cref="MemcachedException">The server cannot be reached, or it replies with an error.</exception>
    public byte[]? Get(string key) => Wait(GetAsync(key));

    /// <summary>Returns a copy of a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="token">Cancels the wait.</param>
    /// <returns>The value; null if there is none.</returns>
    /// <exception cref="MemcachedException">The server cannot be reached, or it replies with an error.</exception>
    public async Task<byte[]?> GetAsync(string key, CancellationToken token = default)
    {
        ReadOnlyMemory<byte>? value = await ReadAsync(key, token).ConfigureAwait(false);
        return value?.ToArray();
    }

    /// <summary>Writes a key's value to a buffer. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">The buffer for the value. It stays unchanged if the result is false.</param>
    /// <returns>True if there is a value.</returns>
    /// <exception cref="MemcachedException">The server cannot be reached, or it replies with an error.</exception>
    public bool TryGet(string key, IBufferWriter<byte> destination) => Wait(TryGetAsync(key, destination).AsTask());

    /// <summary>Writes a key's value to a buffer.</summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">The buffer for the value. It stays unchanged if the result is false.</param>
    /// <param name="token">Cancels the wait. The buffer is not written to after the call completes.</param>
    /// <returns>True if there is a value.</returns>
    /// <exception cref="MemcachedException">The server cannot be reached, or it replies with an error.</exception>
    public async ValueTask<bool> TryGetAsync(string key, IBufferWriter<byte> destination, CancellationToken token = default)
    {
        ArgumentNullException.ThrowIfNull(destination);
        if (await ReadAsync(key, token).ConfigureAwait(false) is not { } value)
        {
            return false;
        }

        destination.Write(value.Span);
        return true;
    }

    /// <summary>Stores a value, replacing any earlier one. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="options">The expiration; by default the value does not expire. A time in the past removes the key.</param>
    /// <exception cref="MemcachedException">
    /// The server cannot be reached, or it replies with an error. The value may have been stored anyway.
    /// </exception>
    public void Set(string key, byte[] value, DistributedCacheEntryOptions options) => Wait(SetAsync(key, value, options));

    /// <summary>Stores a value, replacing any earlier one.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value; it must not change until the call completes.</param>
    /// <param name="options">The expiration; by default the value does not expire. A time in the past removes the key.</param>
    /// <param name="token">Cancels the wait; the value may be stored anyway.</param>
    /// <exception cref="MemcachedException">
    /// The server cannot be reached, or it replies with an error. The value may have been stored anyway.
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
        StoreAsync(key, value.IsSingleSegment ? value.First : value.ToArray(), options, token);

    /// <summary>Extends the lifetime of a key's value if it has a sliding expiration. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="MemcachedException">The server cannot be reached, or it replies with an error.</exception>
    public void Refresh(string key) => Wait(RefreshAsync(key));

    /// <summary>Extends the lifetime of a key's value if it has a sliding expiration.</summary>
    /// <param name="key">The key.</param>
    /// <param name="token">Cancels the wait.</param>
    /// <exception cref="MemcachedException">The server cannot be reached, or it replies with an error.</exception>
    public async Task RefreshAsync(string key, CancellationToken token = default) => await ReadAsync(key, token).ConfigureAwait(false);

    /// <summary>Removes a key's value. Blocks the thread until the server has replied.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="MemcachedException">
    /// The server cannot be reached, or it replies with an error. The value may have been removed anyway.
    /// </exception>
    public void Remove(string key) => Wait(RemoveAsync(key));

    /// <summary>Removes a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="token">Cancels the wait; the value may be removed anyway.</param>
    /// <exception cref="MemcachedException">
    /// The server cannot be reached, or it replies with an error. The value may have been removed anyway.
    /// </exception>
    public async Task RemoveAsync(string key, CancellationToken token = default)
    {
        byte[] wireKey = WireKey(key);
        MemcachedServer server = ServerOf(wireKey, out _);
        await server.AskAsync((ref MemcachedRequestWriter writer) => writer.WriteDelete(wireKey), 1, null, token).ConfigureAwait(false);
    }

    /// <summary>Closes the connections.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (MemcachedServer server in _servers)
        {
            await server.DisposeAsync().ConfigureAwait(false);
        }
    }

    /// <inheritdoc cref="DisposeAsync"/>
#pragma warning disable VSTHRD002 // A caller of Dispose, instead of DisposeAsync, expects to block.
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    async ValueTask<CacheLeaseStatus> ICacheLeases.TryAcquireAsync(
        string key, string owner, TimeSpan duration, bool onlyIfMissing, CancellationToken cancellationToken)
    {
        byte[] wireKey = WireKey(key);
        MemcachedServer server = ServerOf(wireKey, out _);
        long seconds = Seconds(duration);
        MemcachedAnswer found = await server.AskAsync(
            (ref MemcachedRequestWriter writer) =>
            {
                writer.BeginMeta(MemcachedCommand.MetaGet, wireKey);
                writer.WriteFlag('s');
                writer.WriteFlag('c');
                writer.WriteFlag('f');
                writer.WriteFlag('t');
                writer.WriteFlag('N', seconds);
                writer.WriteLineEnd();
            },
            1,
            null,
            cancellationToken).ConfigureAwait(false);
        if (!server.HasMeta)
        {
            throw new NotSupportedException($"{server.Name} has no meta commands, and so no leases.");
        }

        bool isEmpty = found is { ValueBytes: <= 0, ClientFlags: 0 };
        if (isEmpty)
        {
            if (found.IsWon)
            {
                _leases[(key, owner)] = new HeldLease(server, found.Version, IsVivified: true, SecondsLeft: -1);
                return CacheLeaseStatus.Acquired;
            }

            return CacheLeaseStatus.Held;
        }

        if (onlyIfMissing)
        {
            return CacheLeaseStatus.HasValue;
        }

        if (found.IsTaken)
        {
            return CacheLeaseStatus.Held;
        }

        // The mark creates a new version, so only one of several concurrent callers succeeds in marking this version as stale.
        MemcachedAnswer marked = await server.AskAsync(
            (ref MemcachedRequestWriter writer) =>
            {
                writer.BeginMeta(MemcachedCommand.MetaDelete, wireKey);
                writer.WriteFlag('C', found.Version);
                writer.WriteFlag('I');
                writer.WriteFlag('T', seconds);
                writer.WriteLineEnd();
            },
            1,
            null,
            cancellationToken).ConfigureAwait(false);
        if (!marked.IsDone)
        {
            return CacheLeaseStatus.Held;
        }

        MemcachedAnswer stale = await LookAsync(server, wireKey, cancellationToken).ConfigureAwait(false);
        if (!stale.IsDone || stale.Version == 0)
        {
            return CacheLeaseStatus.Held;
        }

        _leases[(key, owner)] = new HeldLease(server, stale.Version, IsVivified: false, found.SecondsLeft);
        return CacheLeaseStatus.Acquired;
    }

    async ValueTask<bool> ICacheLeases.TryRenewAsync(string key, string owner, TimeSpan duration, CancellationToken cancellationToken)
    {
        if (!_leases.TryGetValue((key, owner), out HeldLease? lease))
        {
            return false;
        }

        byte[] wireKey = WireKey(key);
        long seconds = Seconds(duration);
        if (lease.IsVivified)
        {
            MemcachedAnswer set = await lease.Server.AskAsync(
                (ref MemcachedRequestWriter writer) =>
                {
                    writer.BeginMetaSet(wireKey, 0);
                    writer.WriteFlag('C', lease.Version);
                    writer.WriteFlag('T', seconds);
                    writer.WriteFlag('c');
                    writer.WriteLineEnd();
                    writer.WriteData([]);
                },
                1,
                null,
                cancellationToken).ConfigureAwait(false);
            return Keep(set.IsDone && set.Version != 0, set.Version);
        }

        MemcachedAnswer found = await LookAsync(lease.Server, wireKey, cancellationToken).ConfigureAwait(false);
        if (!found.IsDone || found.Version != lease.Version)
        {
            return Keep(isHeld: false, 0);
        }

        // On some servers a touch creates a new version.
        MemcachedAnswer touched = await lease.Server.AskAsync(
            (ref MemcachedRequestWriter writer) =>
            {
                writer.BeginMeta(MemcachedCommand.MetaGet, wireKey);
                writer.WriteFlag('c');
                writer.WriteFlag('T', seconds);
                writer.WriteLineEnd();
            },
            1,
            null,
            cancellationToken).ConfigureAwait(false);
        return Keep(touched.IsDone, touched.Version);

        bool Keep(bool isHeld, ulong version)
        {
            if (isHeld)
            {
                _leases[(key, owner)] = lease with { Version = version };
            }
            else
            {
                _leases.TryRemove((key, owner), out _);
            }

            return isHeld;
        }
    }

    async ValueTask ICacheLeases.ReleaseAsync(string key, string owner, CancellationToken cancellationToken)
    {
        if (!_leases.TryRemove((key, owner), out HeldLease? lease))
        {
            return;
        }

        byte[] wireKey = WireKey(key);
        if (!lease.IsVivified)
        {
            // Only a new version clears the mark, so this stores the same value again.
            var buffer = new ArrayBufferWriter<byte>();
            MemcachedAnswer found = await lease.Server.AskAsync(ReadValue(wireKey), 1, buffer, cancellationToken).ConfigureAwait(false);
            if (found.IsValue && found.Version == lease.Version)
            {
                await SetIfUnchangedAsync(
                    lease.Server, wireKey, lease.Version, buffer.WrittenMemory, found.ClientFlags, Math.Max(0, lease.SecondsLeft), cancellationToken)
                    .ConfigureAwait(false);
            }

            return;
        }

        await lease.Server.AskAsync(
            (ref MemcachedRequestWriter writer) =>
            {
                writer.BeginMeta(MemcachedCommand.MetaDelete, wireKey);
                writer.WriteFlag('C', lease.Version);
                writer.WriteLineEnd();
            },
            1,
            null,
            cancellationToken).ConfigureAwait(false);
    }

    async ValueTask ICacheLeases.EndAsync(string key, CancellationToken cancellationToken)
    {
        byte[] wireKey = WireKey(key);
        MemcachedServer server = ServerOf(wireKey, out _);
        MemcachedAnswer found = await LookAsync(server, wireKey, cancellationToken).ConfigureAwait(false);
        if (found is { IsDone: true, ValueBytes: <= 0, ClientFlags: 0 } or { IsDone: true, IsTaken: true })
        {
            await RemoveAsync(key, cancellationToken).ConfigureAwait(false);
        }
    }

    async ValueTask<CacheLeaseStatus> ICacheLeases.TrySetAsync(
        string key, string owner, ReadOnlyMemory<byte> value, DistributedCacheEntryOptions options, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(options);
        if (!_leases.TryRemove((key, owner), out HeldLease? lease))
        {
            return CacheLeaseStatus.Held;
        }

        byte[] wireKey = WireKey(key);
        MemcachedServer server = ServerOf(wireKey, out bool isStandIn);
        if (server != lease.Server || Encode(value, options, isStandIn) is not { } entry)
        {
            return CacheLeaseStatus.Held;
        }

        return await SetIfUnchangedAsync(server, wireKey, lease.Version, entry.Bytes, entry.Form, entry.Seconds, cancellationToken).ConfigureAwait(false)
            ? CacheLeaseStatus.Acquired
            : CacheLeaseStatus.Held;
    }

    private static RequestWriter ReadValue(byte[] wireKey) => (ref MemcachedRequestWriter writer) =>
    {
        writer.BeginMeta(MemcachedCommand.MetaGet, wireKey);
        writer.WriteFlag('v');
        writer.WriteFlag('f');
        writer.WriteFlag('c');
        writer.WriteLineEnd();
    };

    private static ValueTask<MemcachedAnswer> LookAsync(MemcachedServer server, byte[] wireKey, CancellationToken cancellationToken) => server.AskAsync(
        (ref MemcachedRequestWriter writer) =>
        {
            writer.BeginMeta(MemcachedCommand.MetaGet, wireKey);
            writer.WriteFlag('s');
            writer.WriteFlag('c');
            writer.WriteFlag('f');
            writer.WriteLineEnd();
        },
        1,
        null,
        cancellationToken);

    private static async ValueTask<bool> SetIfUnchangedAsync(
        MemcachedServer server, byte[] wireKey, ulong version, ReadOnlyMemory<byte> bytes, uint form, long seconds, CancellationToken cancellationToken)
    {
        MemcachedAnswer set = await server.AskAsync(
            (ref MemcachedRequestWriter writer) =>
            {
                writer.BeginMetaSet(wireKey, bytes.Length);
                writer.WriteFlag('C', version);
                writer.WriteFlag('F', form);
                writer.WriteFlag('T', seconds);
                writer.WriteLineEnd();
                writer.WriteData(bytes.Span);
            },
            1,
            null,
            cancellationToken).ConfigureAwait(false);
        return set.IsDone;
    }

    private static long Seconds(TimeSpan time) => Math.Max(1, (long)Math.Ceiling(time.TotalSeconds));

    private byte[] WireKey(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        byte[] bytes = Encoding.UTF8.GetBytes(_options.KeyPrefix + key);
        return MemcachedRequestWriter.IsPlainKey(bytes) ? bytes : Encoding.ASCII.GetBytes("cairn-sha256:" + Convert.ToHexStringLower(SHA256.HashData(bytes)));
    }

    // Returns the server that owns the key, or its substitute while the owner is ejected.
    private MemcachedServer ServerOf(byte[] wireKey, out bool isStandIn)
    {
        int server = _ring.ServerOf(wireKey, at => _servers[at].IsServing, out int owner);
        isStandIn = server != owner;
        if (server < 0 || (isStandIn && !_servers[owner].MayBeReplaced))
        {
            throw new MemcachedException($"{_servers[owner].Name} is ejected, and no other server may take its place.");
        }

        return _servers[server];
    }

    private async ValueTask<ReadOnlyMemory<byte>?> ReadAsync(string key, CancellationToken token)
    {
        byte[] wireKey = WireKey(key);
        MemcachedServer server = ServerOf(wireKey, out bool isStandIn);
        var buffer = new ArrayBufferWriter<byte>();

        // A plain get, because a meta get would take the right to recache a stale entry.
        MemcachedAnswer found = await server.AskAsync(
            (ref MemcachedRequestWriter writer) => writer.WriteGet(wireKey), 1, buffer, token).ConfigureAwait(false);
        if (!found.IsValue || (buffer.WrittenCount == 0 && found.ClientFlags == 0))
        {
            return null;
        }

        if (found.ClientFlags != SlidingForm || buffer.WrittenCount < HeaderBytes)
        {
            return buffer.WrittenMemory;
        }

        long endMs = BinaryPrimitives.ReadInt64LittleEndian(buffer.WrittenSpan);
        long slidingMs = BinaryPrimitives.ReadInt64LittleEndian(buffer.WrittenSpan[8..]);
        long nowMs = _clock.GetUtcNow().ToUnixTimeMilliseconds();
        if (nowMs >= endMs)
        {
            return null;
        }

        long lifeMs = Math.Min(slidingMs, endMs - nowMs);
        if (isStandIn)
        {
            lifeMs = Math.Min(lifeMs, (long)_options.StandInLifetime.TotalMilliseconds);
        }

        await server.AskAsync(
            (ref MemcachedRequestWriter writer) => writer.WriteTouch(wireKey, ExpirationOf(lifeMs)), 1, null, token).ConfigureAwait(false);
        return buffer.WrittenMemory[HeaderBytes..];
    }

    private async ValueTask StoreAsync(string key, ReadOnlyMemory<byte> value, DistributedCacheEntryOptions options, CancellationToken token)
    {
        ArgumentNullException.ThrowIfNull(options);
        byte[] wireKey = WireKey(key);
        MemcachedServer server = ServerOf(wireKey, out bool isStandIn);
        if (Encode(value, options, isStandIn) is not { } entry)
        {
            await RemoveAsync(key, token).ConfigureAwait(false);
            return;
        }

        MemcachedAnswer answer = await server.AskAsync(
            (ref MemcachedRequestWriter writer) => writer.WriteStore(MemcachedCommand.Set, wireKey, entry.Bytes.Span, entry.Form, entry.Seconds), 1, null, token)
            .ConfigureAwait(false);
        if (!answer.IsDone)
        {
            throw new MemcachedException($"{server.Name} did not store the value: {answer.Kind}.");
        }
    }

    // Returns null if the value has expired already.
    private EncodedEntry? Encode(ReadOnlyMemory<byte> value, DistributedCacheEntryOptions options, bool isStandIn)
    {
        if (EntryTimes.Of(options, _clock.GetUtcNow()) is not { } times)
        {
            return null;
        }

        long lifeMs = times.LifeMs ?? 0;
        if (isStandIn)
        {
            long most = (long)_options.StandInLifetime.TotalMilliseconds;
            lifeMs = lifeMs == 0 ? most : Math.Min(lifeMs, most);
        }

        long expiration = lifeMs == 0 ? 0 : ExpirationOf(lifeMs);
        if (times.SlidingTicks < 0)
        {
            return new EncodedEntry(value, PlainForm, expiration);
        }

        byte[] bytes = new byte[HeaderBytes + value.Length];
        long endMs = times.AbsoluteTicks < 0 ? long.MaxValue : new DateTimeOffset(times.AbsoluteTicks, TimeSpan.Zero).ToUnixTimeMilliseconds();
        BinaryPrimitives.WriteInt64LittleEndian(bytes, endMs);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(8), times.SlidingTicks / TimeSpan.TicksPerMillisecond);
        value.CopyTo(bytes.AsMemory(HeaderBytes));
        return new EncodedEntry(bytes, SlidingForm, expiration);
    }

    // Memcached reads an expiration above thirty days as an absolute time.
    private long ExpirationOf(long lifeMs)
    {
        long seconds = Math.Max(1, (lifeMs + 999) / 1000);
        return seconds <= LongestRelativeSeconds ? seconds : Math.Min(_clock.GetUtcNow().ToUnixTimeSeconds() + seconds, int.MaxValue);
    }

#pragma warning disable VSTHRD002 // The synchronous methods of IDistributedCache block by contract.
    private static T Wait<T>(Task<T> task) => task.GetAwaiter().GetResult();

    private static void Wait(Task task) => task.GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    private readonly record struct EncodedEntry(ReadOnlyMemory<byte> Bytes, uint Form, long Seconds);

    /// <summary>A lease that this process holds.</summary>
    private sealed record HeldLease(MemcachedServer Server, ulong Version, bool IsVivified, long SecondsLeft);
}
