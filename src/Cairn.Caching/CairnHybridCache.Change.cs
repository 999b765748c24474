using Cairn.Caching.Coherence;
using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching;

// Changes. A change that completes here is visible everywhere the second level reaches, or is sent again until it is (I3).
public sealed partial class CairnHybridCache
{
    private const int ChangesAtOnce = 64;

    /// <inheritdoc/>
    /// <remarks>A factory that is running for the key does not replace this value.</remarks>
    public override ValueTask SetAsync<T>(
        string key, T value, HybridCacheEntryOptions? options = null, IEnumerable<string>? tags = null, CancellationToken cancellationToken = default) =>
        SetAsync(key, value, (CairnEntryOptions?)options, tags, cancellationToken);

    /// <summary>Stores a value in both levels and replaces any earlier one.</summary>
    /// <typeparam name="T">The value's type.</typeparam>
    /// <param name="key">The key. If it cannot be cached, nothing is stored, and the call is counted.</param>
    /// <param name="value">The value, which may be null.</param>
    /// <param name="options">The caching options; null for the defaults.</param>
    /// <param name="tags">The tags by which the value can be removed; null for none.</param>
    /// <param name="cancellationToken">Ends the wait for the second level; the change may have been made.</param>
    /// <returns>A task that ends when every process that shares the second level reads this value or a newer one.</returns>
    /// <remarks>A factory that is running for the key does not replace this value.</remarks>
    public async ValueTask SetAsync<T>(
        string key, T value, CairnEntryOptions? options, IEnumerable<string>? tags = null, CancellationToken cancellationToken = default)
    {
        ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
        EntryPolicy policy = _defaults.With(options);
        if (!IsCacheable(key))
        {
            _counters.Add(CacheCount.Uncached);
            return;
        }

        cancellationToken.ThrowIfCancellationRequested();
        var wait = new LevelWait(_level.NewDeadline(), cancellationToken);
        ulong hash = _hasher.Hash(key);
        TagStamps? stamps = tags is null && policy.Options.Topics is null
            ? null
            : await CaptureAsync(tags, policy.Options.Topics, wait).ConfigureAwait(false);

        _guard.Detach(hash); // I3
        var writer = new SoloFlight(key, hash, isWriter: true) { Began = BeganNow() };
        _guard.Add(writer);
        try
        {
            ChangeMark mark = _hasLevel ? _coherence.Mark(hash) : default;
            await StoreAsync(writer, value, policy, stamps, null, null, mark, lease: null, isSet: true, wait).ConfigureAwait(false);
            _counters.Add(CacheCount.Set);
        }
        finally
        {
            _guard.Remove(writer);
        }
    }

    /// <inheritdoc/>
    /// <remarks>
    /// The value of a running factory of the key is not kept. The task ends when no process that shares the second level serves the value.
    /// </remarks>
    public override ValueTask RemoveAsync(string key, CancellationToken cancellationToken = default) => RemoveAsync(key, (LevelWait)cancellationToken);

    private async ValueTask RemoveAsync(string key, LevelWait wait)
    {
        ArgumentNullException.ThrowIfNull(key);
        ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
        if (!IsCacheable(key))
        {
            return;
        }

        ulong hash = _hasher.Hash(key);
        Forget(key, hash);
        if (_hasLevel)
        {
            await _level.RemoveAsync(key, hash, wait).ConfigureAwait(false);
            Forget(key, hash);
        }

        _counters.Add(CacheCount.Removed);
    }

    /// <inheritdoc/>
    /// <remarks>The removals run concurrently. The task ends when all are done.</remarks>
    public override ValueTask RemoveAsync(IEnumerable<string> keys, CancellationToken cancellationToken = default) =>
        AllAsync(keys, static (cache, key, wait) => cache.RemoveAsync(key, wait), cancellationToken);

    /// <inheritdoc/>
    /// <remarks>The invalidations run concurrently. The task ends when all are done.</remarks>
    public override ValueTask RemoveByTagAsync(IEnumerable<string> tags, CancellationToken cancellationToken = default) =>
        AllAsync(tags, static (cache, tag, wait) => cache.RemoveByTagAsync(tag, wait), cancellationToken);

    /// <inheritdoc/>
    /// <remarks>The tag <c>*</c> means all entries. The task ends when no process that shares the second level serves values with the tag.</remarks>
    public override ValueTask RemoveByTagAsync(string tag, CancellationToken cancellationToken = default) =>
        RemoveByTagAsync(tag, (LevelWait)cancellationToken);

    private async ValueTask RemoveByTagAsync(string tag, LevelWait wait)
    {
        ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
        if (string.IsNullOrWhiteSpace(tag))
        {
            return; // No entry can have this tag.
        }

        if (tag == TagNames.Everything)
        {
            await ClearAsync(wait).ConfigureAwait(false);
            return;
        }

        ulong hash = _tags.HashOf(tag);
        _tags.Forget(hash);
        await _level.RenewStampAsync(tag, hash, wait).ConfigureAwait(false);
        _tags.Forget(hash);

        _counters.Add(CacheCount.TagRemoved);
    }

    /// <summary>Removes every entry that depends on a topic, from every level and every process.</summary>
    /// <param name="topic">The topic; not empty.</param>
    /// <param name="cancellationToken">Ends the wait for the second level; the change may have been made.</param>
    /// <returns>A task that ends when no process that shares the second level serves such values.</returns>
    /// <remarks>
    /// For changes that an external source reports, such as a database's notification. Entries name their topics in
    /// <see cref="CairnEntryOptions.Topics"/>.
    /// </remarks>
#pragma warning disable CA1030 // The application raises topics, and the cache handles them.
    public ValueTask RaiseTopicAsync(string topic, CancellationToken cancellationToken = default) =>
        RemoveByTagAsync(TagNames.OfTopic(topic), (LevelWait)cancellationToken);
#pragma warning restore CA1030

    /// <summary>Removes all entries from every level and every process that shares the second level.</summary>
    /// <param name="cancellationToken">Ends the wait for the second level; the change may have been made.</param>
    /// <returns>A task that ends when no value that was cached before is served.</returns>
    public ValueTask ClearAsync(CancellationToken cancellationToken = default) => ClearAsync((LevelWait)cancellationToken);

    private async ValueTask ClearAsync(LevelWait wait)
    {
        ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
        ForgetAll();
        await _level.ClearAsync(wait).ConfigureAwait(false);
        ForgetAll();

        _counters.Add(CacheCount.TagRemoved);
    }

    /// <summary>
    /// Makes an entry expire now. The next reader creates a new value. With <see cref="CairnEntryOptions.FailSafe"/> it gets the old value if
    /// its factory fails. Without an expired value to serve, this call is equivalent to <see cref="RemoveAsync(string, CancellationToken)"/>.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="cancellationToken">Ends the wait for the second level; the change may have been made.</param>
    /// <returns>A task that ends when no process that shares the second level serves the value as fresh.</returns>
    /// <remarks>Only this process keeps the old value. Other processes and the second level remove it.</remarks>
    public async ValueTask ExpireAsync(string key, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(key);
        ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
        if (!IsCacheable(key))
        {
            return;
        }

        ulong hash = _hasher.Hash(key);
        ChangeMark mark = _hasLevel ? _coherence.Mark(hash) : default;
        LocalEntry? old = FindUsable(hash, key);
        await RemoveAsync(key, cancellationToken).ConfigureAwait(false);
        long now = _clock.NowMs();
        if (old is not null && now < old.UsableUntil && old.UsableUntil > old.FreshUntil)
        {
            // The expired value is kept only if this removal is the only change: no caller has set, created or removed the value since.
            var writer = new SoloFlight(key, hash, isWriter: true);
            _guard.Add(writer);
            if (_local.FindSurely(hash, key) is null)
            {
                LocalEntry expired = Copy(old, Math.Min(old.FreshUntil, now), old.UsableUntil);
                if (KeepLocal(writer, mark, ownChanges: 1, expired))
                {
                    Depend(expired, isKept: true);
                }
            }

            _guard.Remove(writer);
        }
    }

    // Runs changes of a second level concurrently, because its round trip may be long, but at most ChangesAtOnce at a time.
    private async ValueTask AllAsync(
        IEnumerable<string> names, Func<CairnHybridCache, string, LevelWait, ValueTask> change, CancellationToken cancellationToken)
    {
        ObjectDisposedException.ThrowIf(_isDisposed != 0, this);
        var wait = new LevelWait(_level.NewDeadline(), cancellationToken);
        var running = new List<Task>();
        foreach (string name in names ?? [])
        {
            ValueTask one = change(this, name, wait);
            if (one.IsCompletedSuccessfully)
            {
                continue;
            }

            running.Add(one.AsTask());
            if (running.Count == ChangesAtOnce)
            {
                await Task.WhenAll(running).ConfigureAwait(false);
                running.Clear();
            }
        }

        await Task.WhenAll(running).ConfigureAwait(false);
    }

    private void Forget(string key, ulong hash)
    {
        _guard.Detach(hash);
        _local.Remove(hash, key);
        _dependencies.Drop(key);
    }

    private void ForgetAll()
    {
        _guard.DetachAll();
        _tags.ForgetMany(64, 0);
        _local.Clear();
    }
}
