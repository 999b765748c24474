using Cairn.FileStore.Engine;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore;

/// <summary>A distributed cache in a JSON file that processes share. See <see cref="IDistributedFileStoreCacheBytes"/>.</summary>
public class DistributedFileStoreCacheBytes : IDistributedFileStoreCacheBytes, IDisposable
{
    private readonly DistributedFileStoreCacheString _strings;
    private readonly bool _isSlidingAllowed;
    private readonly TimeProvider _clock;

    /// <inheritdoc cref="DistributedFileStoreCacheString(DistributedFileStoreCacheOptions)"/>
    public DistributedFileStoreCacheBytes(DistributedFileStoreCacheOptions fileStoreCacheOptions)
    {
        ArgumentNullException.ThrowIfNull(fileStoreCacheOptions);
        _isSlidingAllowed = fileStoreCacheOptions.AllowSlidingExpiration;
        _clock = fileStoreCacheOptions.TimeProvider;
        _strings = new DistributedFileStoreCacheString(fileStoreCacheOptions);
    }

    /// <inheritdoc/>
    public byte[]? Get(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return _strings.Engine.Find(key) is { } value ? EntryText.BytesOf(value) : null;
    }

    /// <inheritdoc/>
    public Task<byte[]?> GetAsync(string key, CancellationToken token = default)
    {
        token.ThrowIfCancellationRequested();
        return Task.FromResult(Get(key));
    }

    /// <inheritdoc/>
    public void Set(string key, byte[] value, DistributedCacheEntryOptions options) =>
        _strings.Engine.Change([NewChange(key, value, options)], isClearing: false);

    /// <inheritdoc/>
    public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default) =>
        _strings.ChangeAsync([NewChange(key, value, options)], isClearing: false, token);

    /// <inheritdoc/>
    /// <exception cref="NotImplementedException"><see cref="DistributedFileStoreCacheOptions.AllowSlidingExpiration"/> is not set.</exception>
    public void Refresh(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        if (!_isSlidingAllowed)
        {
            throw new NotImplementedException(EntryDeadlines.NoSliding);
        }

        _strings.Engine.Touch(key);
    }

    /// <inheritdoc/>
    /// <exception cref="NotImplementedException"><see cref="DistributedFileStoreCacheOptions.AllowSlidingExpiration"/> is not set.</exception>
    public Task RefreshAsync(string key, CancellationToken token = default)
    {
        token.ThrowIfCancellationRequested();
        Refresh(key);
        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public void Remove(string key) => _strings.Remove(key);

    /// <inheritdoc/>
    public Task RemoveAsync(string key, CancellationToken token = default) => _strings.RemoveAsync(key, token);

    /// <inheritdoc/>
    public void ClearAll() => _strings.ClearAll();

    /// <inheritdoc/>
    public Dictionary<string, byte[]> GetAllKeyValues() =>
        _strings.Engine.AllEntries().ToDictionary(entry => entry.Key, entry => EntryText.BytesOf(entry.Value!), StringComparer.Ordinal);

    /// <inheritdoc/>
    public Task<IReadOnlyDictionary<string, byte[]>> GetAllKeyValuesAsync() =>
        Task.FromResult<IReadOnlyDictionary<string, byte[]>>(GetAllKeyValues());

    /// <summary>Closes the file. Reads and changes throw from now on.</summary>
    public void Dispose()
    {
        Dispose(disposing: true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes the file.</summary>
    /// <param name="disposing">True if <see cref="Dispose()"/> was called.</param>
    protected virtual void Dispose(bool disposing)
    {
        if (disposing)
        {
            _strings.Dispose();
        }
    }

    // Null options mean no expiration. The interface does not allow null, but callers of this class may pass it.
    private EntryChange NewChange(string key, byte[] value, DistributedCacheEntryOptions? options)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(value);
        return DistributedFileStoreCacheString.NewChange(key, EntryText.OfBytes(value), EntryDeadlines.From(options, _isSlidingAllowed, _clock));
    }
}
