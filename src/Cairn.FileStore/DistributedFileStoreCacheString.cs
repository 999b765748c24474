using Cairn.FileStore.Engine;
using Cairn.FileStore.Entries;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Primitives;

namespace Cairn.FileStore;

/// <summary>A cache in a JSON file that processes share. Its values are strings. See <see cref="IDistributedFileStoreCacheString"/>.</summary>
public class DistributedFileStoreCacheString : IDistributedFileStoreCacheString, IDisposable
{
    private readonly bool _isSlidingAllowed;
    private readonly bool _isFlushed;
    private readonly TimeProvider _clock;

    /// <summary>Opens a cache file. The file need not exist.</summary>
    /// <param name="fileStoreCacheOptions">The options, with the directory and both parts of the file name.</param>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    /// <exception cref="DistributedFileStoreCacheException">
    /// The options do not specify the directory or the second part of the name.
    /// </exception>
    public DistributedFileStoreCacheString(DistributedFileStoreCacheOptions fileStoreCacheOptions)
    {
        ArgumentNullException.ThrowIfNull(fileStoreCacheOptions);
        _isSlidingAllowed = fileStoreCacheOptions.AllowSlidingExpiration;
        _isFlushed = fileStoreCacheOptions.Durability == FileStoreDurability.PowerLoss;
        _clock = fileStoreCacheOptions.TimeProvider;
        Engine = new FileEngine(fileStoreCacheOptions.ToEngineOptions());
    }

    internal FileEngine Engine { get; }

    /// <inheritdoc/>
    public string? Get(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return Engine.FindText(key);
    }

    /// <inheritdoc/>
    public Task<string?> GetAsync(string key, CancellationToken token = default)
    {
        token.ThrowIfCancellationRequested();
        return Task.FromResult(Get(key));
    }

    /// <inheritdoc/>
    public IReadOnlyDictionary<string, string> GetMany(IEnumerable<string> keys)
    {
        ArgumentNullException.ThrowIfNull(keys);
        string[] wanted = [.. keys];
        foreach (string key in wanted)
        {
            ArgumentNullException.ThrowIfNull(key, nameof(keys));
        }

        object?[] found = Engine.FindMany(wanted);
        var values = new Dictionary<string, string>(wanted.Length, StringComparer.Ordinal);
        for (int i = 0; i < wanted.Length; i++)
        {
            if (found[i] is { } value)
            {
                values[wanted[i]] = EntryText.OfValue(value);
            }
        }

        return values;
    }

    /// <inheritdoc/>
    public void Set(string key, string value, DistributedCacheEntryOptions? options = null) => Change([NewChange(key, value, TimesOf(options))]);

    /// <inheritdoc/>
    public Task SetAsync(string key, string value, DistributedCacheEntryOptions? options = null, CancellationToken token = default) =>
        ChangeAsync([NewChange(key, value, TimesOf(options))], isClearing: false, token);

    /// <inheritdoc/>
    public void SetMany(List<KeyValuePair<string, string>> manyEntries, DistributedCacheEntryOptions? options = null) =>
        Change(NewChanges(manyEntries, TimesOf(options)));

    /// <inheritdoc/>
    public Task SetManyAsync(
        List<KeyValuePair<string, string>> manyEntries, DistributedCacheEntryOptions? options = null, CancellationToken token = default) =>
        ChangeAsync(NewChanges(manyEntries, TimesOf(options)), isClearing: false, token);

    /// <inheritdoc/>
    public void Remove(string key) => Change([Removal(key)]);

    /// <inheritdoc/>
    public Task RemoveAsync(string key, CancellationToken token = default) => ChangeAsync([Removal(key)], isClearing: false, token);

    /// <inheritdoc/>
    public void ClearAll(List<KeyValuePair<string, string>>? manyEntries = null, DistributedCacheEntryOptions? entryOptions = null) =>
        Engine.Change(manyEntries is null ? [] : NewChanges(manyEntries, TimesOf(entryOptions)), isClearing: true);

    /// <inheritdoc/>
    public IReadOnlyDictionary<string, string> GetAllKeyValues() => Engine.All();

    /// <inheritdoc/>
    public Task<IReadOnlyDictionary<string, string>> GetAllKeyValuesAsync(CancellationToken token = default)
    {
        token.ThrowIfCancellationRequested();
        return Task.FromResult(Engine.All());
    }

    /// <inheritdoc/>
    public IChangeToken Watch(string? key = null) => Engine.Watch(key);

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
            Engine.Dispose();
        }
    }

    private protected EntryDeadlines TimesOf(DistributedCacheEntryOptions? options) => EntryDeadlines.From(options, _isSlidingAllowed, _clock);

    internal static EntryChange NewChange(string key, object value, EntryDeadlines times)
    {
        ArgumentNullException.ThrowIfNull(key);
        ArgumentNullException.ThrowIfNull(value);
        return new EntryChange(times.ToEntry(key, value));
    }

    internal static EntryChange Removal(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return new EntryChange(new Entry(key, value: null));
    }

    private protected void Change(ReadOnlySpan<EntryChange> changes) => Engine.Change(changes, isClearing: false);

    // A change takes microseconds, so the calling thread makes it. Only a change that waits for the disk or for another thread goes to the
    // thread pool.
    internal Task ChangeAsync(EntryChange[] changes, bool isClearing, CancellationToken token)
    {
        token.ThrowIfCancellationRequested();
        return !_isFlushed && Engine.TryChangeNow(changes, isClearing)
            ? Task.CompletedTask
            : Task.Run(() => Engine.Change(changes, isClearing), token);
    }

    private static EntryChange[] NewChanges(List<KeyValuePair<string, string>> manyEntries, EntryDeadlines times)
    {
        ArgumentNullException.ThrowIfNull(manyEntries);
        return [.. manyEntries.Select(entry => NewChange(entry.Key, entry.Value, times))];
    }
}
