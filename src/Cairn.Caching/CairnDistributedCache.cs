using System.Buffers;
using Cairn.Caching.Stores;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Caching;

/// <summary>
/// An <see cref="IDistributedCache"/> in a store file: shared by all processes of a machine, at memory speed, and still there after a restart.
/// </summary>
/// <remarks>
/// <para>
/// Safe from any thread. A change is seen by all processes once the method that made it has returned. Every operation is done within the
/// call: the asynchronous methods return completed tasks, and there is nothing in them to cancel once they have begun.
/// </para>
/// <para>
/// This is a cache: any entry may be evicted. A write that could not be done, because a process was stopped while it held a lock, is
/// dropped and counted (<see cref="DroppedWrites"/>); the earlier value is gone either way. Nothing else of the cache's own trouble reaches
/// the caller.
/// </para>
/// <para>
/// Keys are any text of up to 65,536 bytes in UTF-8, the empty one included, but without lone surrogates. Values have up to the smaller of
/// 64 MiB and an eighth of the store's capacity. Every method throws <see cref="ArgumentNullException"/> for what must not be null,
/// <see cref="ArgumentException"/> for a key that cannot be, and <see cref="ObjectDisposedException"/> once the cache or its store is closed.
/// </para>
/// <para>
/// Expirations combine as in Microsoft's caches: of an absolute moment and one relative to now the earlier counts; a sliding expiration is
/// extended by each read and by Refresh, never beyond the absolute one. A use in the first eighth of the sliding interval does not extend
/// it, so that reading the same entry often does not mean writing it often. Times are kept in milliseconds.
/// </para>
/// </remarks>
public sealed class CairnDistributedCache : IBufferDistributedCache, IDisposable
{
    private const int RefreshAttempts = 20;

    private static readonly TimeSpan LongestTime = TimeSpan.FromMilliseconds(Expiration.LongestMs);

    private readonly StoreHandle _handle;
    private readonly CairnCollection _entries;
    private readonly TimeProvider _clock;
    private readonly DroppedWrites _dropped;
    private volatile bool _isDisposed;

    /// <summary>Opens the store and the collection of a cache.</summary>
    /// <param name="options">Where they are.</param>
    /// <param name="logger">Told of dropped writes, once a minute at most; null for nobody.</param>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read and write the file.</exception>
    /// <exception cref="StoreException">
    /// The disk is full, the file is no store, or on a network file system, or another reason why it cannot be opened: the message tells.
    /// </exception>
    /// <exception cref="DirectoryNotFoundException">The file's directory does not exist.</exception>
    public CairnDistributedCache(CairnDistributedCacheOptions options, ILogger<CairnDistributedCache>? logger = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        _handle = options.OpenStore();
        try
        {
            _entries = _handle.Store.Collection(
                options.CollectionName, options.BudgetBytes is { } budget ? new CollectionOptions { BudgetBytes = budget } : null);
        }
        catch
        {
            _handle.Dispose();
            throw;
        }

        _clock = _handle.Store.Options.Clock;
        _dropped = new DroppedWrites(_handle.Store.Path, (ILogger?)logger ?? NullLogger.Instance);
    }

    /// <summary>Writes that were not done since the cache was made; see the remarks of <see cref="CairnDistributedCache"/>.</summary>
    public long DroppedWrites => _dropped.Count;

    // A key of text is valid UTF-8 and not empty, so this byte is the key of nothing else.
    private static ReadOnlySpan<byte> EmptyKey => [0xFF];

    internal CairnStore OpenStore => _handle.Store;

    internal CairnCollection Entries => _entries;

    /// <summary>A copy of a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <returns>The value; null if there is none.</returns>
    public byte[]? Get(string key) => Open(key).Get(KeyOf(key));

    /// <inheritdoc cref="Get"/>
    /// <param name="key">The key.</param>
    /// <param name="token">If it is cancelled already, nothing is read, and so is the task.</param>
    public Task<byte[]?> GetAsync(string key, CancellationToken token = default) =>
        token.IsCancellationRequested ? Task.FromCanceled<byte[]?>(token) : Task.FromResult(Get(key));

    /// <summary>Writes a key's value to a buffer.</summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">Where to. Nothing is added if the result is false.</param>
    /// <returns>True if there is a value.</returns>
    public bool TryGet(string key, IBufferWriter<byte> destination) => Open(key).TryGet(KeyOf(key), destination);

    /// <inheritdoc cref="TryGet"/>
    /// <param name="key">The key.</param>
    /// <param name="destination">Where to. Nothing is added if the result is false.</param>
    /// <param name="token">If it is cancelled already, nothing is read, and so is the task.</param>
    public ValueTask<bool> TryGetAsync(string key, IBufferWriter<byte> destination, CancellationToken token = default) =>
        token.IsCancellationRequested ? ValueTask.FromCanceled<bool>(token) : ValueTask.FromResult(TryGet(key, destination));

    /// <summary>Stores a value, replacing any earlier one.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value, copied before the call returns.</param>
    /// <param name="options">When it expires; not at all by default. A moment that has passed removes the key.</param>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows. The earlier one stays.</exception>
    public void Set(string key, byte[] value, DistributedCacheEntryOptions options)
    {
        ArgumentNullException.ThrowIfNull(value);
        Store(key, value, options);
    }

    /// <inheritdoc cref="Set(string, byte[], DistributedCacheEntryOptions)"/>
    /// <param name="key">The key.</param>
    /// <param name="value">The value, copied before the call returns.</param>
    /// <param name="options">When it expires; not at all by default. A moment that has passed removes the key.</param>
    /// <param name="token">If it is cancelled already, nothing is stored, and so is the task.</param>
    public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default)
    {
        if (token.IsCancellationRequested)
        {
            return Task.FromCanceled(token);
        }

        Set(key, value, options);
        return Task.CompletedTask;
    }

    /// <inheritdoc cref="Set(string, byte[], DistributedCacheEntryOptions)"/>
    public void Set(string key, ReadOnlySequence<byte> value, DistributedCacheEntryOptions options)
    {
        if (value.IsSingleSegment)
        {
            Store(key, value.FirstSpan, options);
            return;
        }

        // One that is certainly too long is refused below without being copied.
        CairnCollection entries = Open(key);
        int longest = _handle.Store.MaxValueBytes;
        if (value.Length > longest)
        {
            throw new ArgumentOutOfRangeException(
                nameof(value), value.Length, $"A value in this store has at most {longest:N0} bytes: the smaller of 64 MiB and an eighth of the capacity.");
        }

        byte[] rented = ArrayPool<byte>.Shared.Rent((int)value.Length);
        try
        {
            value.CopyTo(rented);
            Store(entries, key, rented.AsSpan(0, (int)value.Length), options);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(rented);
        }
    }

    /// <inheritdoc cref="Set(string, byte[], DistributedCacheEntryOptions)"/>
    /// <param name="key">The key.</param>
    /// <param name="value">The value, copied before the call returns.</param>
    /// <param name="options">When it expires; not at all by default. A moment that has passed removes the key.</param>
    /// <param name="token">If it is cancelled already, nothing is stored, and so is the task.</param>
    public ValueTask SetAsync(string key, ReadOnlySequence<byte> value, DistributedCacheEntryOptions options, CancellationToken token = default)
    {
        if (token.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(token);
        }

        Set(key, value, options);
        return ValueTask.CompletedTask;
    }

    /// <summary>Extends the life of a key's value, if its expiration slides.</summary>
    /// <param name="key">The key.</param>
    public void Refresh(string key)
    {
        CairnCollection entries = Open(key);
        var wait = default(SpinWait);

        // A read that meets another's write leaves the extension to the next read. Who asks for nothing else tries again, for some milliseconds.
        do
        {
            entries.Read(KeyOf(key), 0, static (_, _, _) => { });
            if (!IsOverdue(entries, key))
            {
                return;
            }

            wait.SpinOnce();
        }
        while (wait.Count < RefreshAttempts);
    }

    /// <inheritdoc cref="Refresh"/>
    /// <param name="key">The key.</param>
    /// <param name="token">If it is cancelled already, nothing is done, and so is the task.</param>
    public Task RefreshAsync(string key, CancellationToken token = default)
    {
        if (token.IsCancellationRequested)
        {
            return Task.FromCanceled(token);
        }

        Refresh(key);
        return Task.CompletedTask;
    }

    /// <summary>Removes a key's value. It is gone in any case, also while a lock cannot be had.</summary>
    /// <param name="key">The key.</param>
    public void Remove(string key) => Open(key).Remove(KeyOf(key));

    /// <inheritdoc cref="Remove"/>
    /// <param name="key">The key.</param>
    /// <param name="token">If it is cancelled already, nothing is removed, and so is the task.</param>
    public Task RemoveAsync(string key, CancellationToken token = default)
    {
        if (token.IsCancellationRequested)
        {
            return Task.FromCanceled(token);
        }

        Remove(key);
        return Task.CompletedTask;
    }

    /// <summary>Gives the store back: it is closed with the last cache of this process that uses it. What it holds stays.</summary>
    public void Dispose()
    {
        _isDisposed = true;
        _handle.Dispose();
    }

    private static CacheKey KeyOf(string key) => key.Length > 0 ? key : new CacheKey(EmptyKey);

    // Whether a use of the entry should have extended its life, and did not.
    private bool IsOverdue(CairnCollection entries, string key) =>
        entries.TryGetInfo(KeyOf(key), out EntryInfo info)
        && info.SlidingInterval is { } interval
        && info.ExpiresAt != info.SlidingLimit
        && info.ExpiresAt - _clock.GetUtcNow() < interval * 7 / 8;

    private CairnCollection Open(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        return _entries;
    }

    private void Store(string key, ReadOnlySpan<byte> value, DistributedCacheEntryOptions options) => Store(Open(key), key, value, options);

    private void Store(CairnCollection entries, string key, ReadOnlySpan<byte> value, DistributedCacheEntryOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        DateTimeOffset? moment = AbsoluteExpiration(options);
        Expiration expiration = options.SlidingExpiration is { } interval && interval <= LongestTime
            ? Expiration.Sliding(interval, moment)
            : moment is { } end ? Expiration.At(end) : Expiration.None;

        // A write that removes, because its moment has passed, has nothing to drop.
        if (!entries.Set(KeyOf(key), value, expiration) && !(moment <= _clock.GetUtcNow()))
        {
            _dropped.Add();
        }
    }

    // The earlier of the two forms.
    private DateTimeOffset? AbsoluteExpiration(DistributedCacheEntryOptions options)
    {
        if (options.AbsoluteExpirationRelativeToNow is not { } time || time > LongestTime)
        {
            return options.AbsoluteExpiration;
        }

        DateTimeOffset now = _clock.GetUtcNow();
        DateTimeOffset moment = time < DateTimeOffset.MaxValue - now ? now + time : DateTimeOffset.MaxValue;
        return options.AbsoluteExpiration < moment ? options.AbsoluteExpiration : moment;
    }
}
