using Cairn.Caching.Stores;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Caching;

/// <summary>
/// An <see cref="IDistributedCache"/> in a store file. All processes of a machine share it, it works at memory speed, and it survives a
/// restart.
/// </summary>
/// <remarks>
/// <para>
/// Safe from any thread. All processes see a change once the method that made it has returned. Every operation completes synchronously: the
/// asynchronous methods return completed tasks, and an operation that has begun cannot be cancelled.
/// </para>
/// <para>
/// This is a cache: any entry may be evicted. A write is dropped and counted (<see cref="DroppedWrites"/>) if a stopped process holds the lock
/// that it needs, or if readers have pinned all segments; the earlier value is removed in any case. No other internal failure of the cache
/// reaches the caller.
/// </para>
/// <para>
/// A key is any text of up to 65,536 bytes in UTF-8, including the empty text, without lone surrogates. A value has up to the smaller of 64 MiB
/// and an eighth of the store's capacity. Every method throws <see cref="ArgumentNullException"/> for a null argument,
/// <see cref="ArgumentException"/> for an invalid key, and <see cref="ObjectDisposedException"/> after the cache or its store was closed.
/// </para>
/// <para>
/// Expirations combine as in Microsoft's caches. The earlier of the absolute moment and the moment relative to now applies. Each read and each
/// Refresh extends a sliding expiration, never beyond the absolute one. A use in the first eighth of the sliding interval does not extend it,
/// so that frequent reads of an entry do not cause frequent writes. Times are stored in milliseconds.
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
    /// <param name="options">The location of the store and the collection.</param>
    /// <param name="logger">
    /// The logger of dropped writes and of failures of the store's work in the background, each logged at most once a minute; null for none.
    /// </param>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read and write the file.</exception>
    /// <exception cref="StoreException">
    /// The store cannot be opened: the disk is full, the file is not a store or is on a network file system, or another reason that the
    /// message names.
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

        _clock = _handle.Store.Options.TimeProvider;
        _handle.LogFailures(logger);
        _dropped = new DroppedWrites(_handle.Store.Path, (ILogger?)logger ?? NullLogger.Instance);
    }

    /// <summary>Writes dropped since the cache was created; see the remarks of <see cref="CairnDistributedCache"/>.</summary>
    public long DroppedWrites => _dropped.Count;

    // The empty key is stored as this byte. It is not valid UTF-8, so no other text has it as its key.
    private static ReadOnlySpan<byte> EmptyKey => [0xFF];

    internal CairnStore OpenStore => _handle.Store;

    internal CairnCollection Entries => _entries;

    /// <summary>Returns a copy of a key's value.</summary>
    /// <param name="key">The key.</param>
    /// <returns>The value; null if there is none.</returns>
    public byte[]? Get(string key) => Open(key).Get(KeyOf(key));

    /// <inheritdoc cref="Get"/>
    /// <param name="key">The key.</param>
    /// <param name="token">If it is already cancelled, nothing is read and the task is cancelled.</param>
    public Task<byte[]?> GetAsync(string key, CancellationToken token = default) =>
        token.IsCancellationRequested ? Task.FromCanceled<byte[]?>(token) : Task.FromResult(Get(key));

    /// <summary>Writes a key's value to a buffer.</summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">The buffer. Nothing is written to it if the result is false.</param>
    /// <returns>True if there is a value.</returns>
    public bool TryGet(string key, IBufferWriter<byte> destination) => Open(key).TryGet(KeyOf(key), destination);

    /// <inheritdoc cref="TryGet"/>
    /// <param name="key">The key.</param>
    /// <param name="destination">The buffer. Nothing is written to it if the result is false.</param>
    /// <param name="token">If it is already cancelled, nothing is read and the task is cancelled.</param>
    public ValueTask<bool> TryGetAsync(string key, IBufferWriter<byte> destination, CancellationToken token = default) =>
        token.IsCancellationRequested ? ValueTask.FromCanceled<bool>(token) : ValueTask.FromResult(TryGet(key, destination));

    /// <summary>Stores a value and replaces any earlier one.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value, copied before the call returns.</param>
    /// <param name="options">The expiration; none by default. A moment in the past removes the key.</param>
    /// <exception cref="ArgumentOutOfRangeException">The value is longer than the store allows. The earlier value stays.</exception>
    public void Set(string key, byte[] value, DistributedCacheEntryOptions options)
    {
        ArgumentNullException.ThrowIfNull(value);
        Store(key, value, options);
    }

    /// <inheritdoc cref="Set(string, byte[], DistributedCacheEntryOptions)"/>
    /// <param name="key">The key.</param>
    /// <param name="value">The value, copied before the call returns.</param>
    /// <param name="options">The expiration; none by default. A moment in the past removes the key.</param>
    /// <param name="token">If it is already cancelled, nothing is stored and the task is cancelled.</param>
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

        // A value that is certainly too long is refused here, before it is copied.
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
    /// <param name="options">The expiration; none by default. A moment in the past removes the key.</param>
    /// <param name="token">If it is already cancelled, nothing is stored and the task is cancelled.</param>
    public ValueTask SetAsync(string key, ReadOnlySequence<byte> value, DistributedCacheEntryOptions options, CancellationToken token = default)
    {
        if (token.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(token);
        }

        Set(key, value, options);
        return ValueTask.CompletedTask;
    }

    /// <summary>Extends the lifetime of a key's value if it has a sliding expiration.</summary>
    /// <param name="key">The key.</param>
    public void Refresh(string key)
    {
        CairnCollection entries = Open(key);
        var wait = default(SpinWait);

        // A read that meets a concurrent write leaves the extension to the next read. Refresh has no other purpose, so it retries for some
        // milliseconds.
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
    /// <param name="token">If it is already cancelled, nothing is done and the task is cancelled.</param>
    public Task RefreshAsync(string key, CancellationToken token = default)
    {
        if (token.IsCancellationRequested)
        {
            return Task.FromCanceled(token);
        }

        Refresh(key);
        return Task.CompletedTask;
    }

    /// <summary>Removes a key's value. The value becomes unreadable even if the lock cannot be acquired.</summary>
    /// <param name="key">The key.</param>
    public void Remove(string key) => Open(key).Remove(KeyOf(key));

    /// <inheritdoc cref="Remove"/>
    /// <param name="key">The key.</param>
    /// <param name="token">If it is already cancelled, nothing is removed and the task is cancelled.</param>
    public Task RemoveAsync(string key, CancellationToken token = default)
    {
        if (token.IsCancellationRequested)
        {
            return Task.FromCanceled(token);
        }

        Remove(key);
        return Task.CompletedTask;
    }

    /// <summary>Releases the store. The last cache of this process that uses it closes it. Its contents stay.</summary>
    public void Dispose()
    {
        _isDisposed = true;
        _handle.Dispose();
    }

    private static CacheKey KeyOf(string key) => key.Length > 0 ? key : new CacheKey(EmptyKey);

    // Returns whether a use of the entry should have extended its lifetime but did not.
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

        // A write whose moment has passed only removes the key, so there is no dropped write to count.
        if (!entries.Set(KeyOf(key), value, expiration) && !(moment <= _clock.GetUtcNow()))
        {
            _dropped.Add();
        }
    }

    // Returns the earlier of the absolute moment and the moment relative to now.
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
