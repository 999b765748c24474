using Cairn.Caching.Coherence;
using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;

namespace Cairn.Caching.Operations;

// Removes entries: on behalf of callers, of change tokens, and of other processes that share the second level.
internal sealed class CacheInvalidator
{
    private const int ChangesAtOnce = 64;

    private readonly CacheParts _parts;
    private readonly LocalReader _local;
    private readonly EntryKeeper _keeper;
    private readonly TagReader _tags;

    public CacheInvalidator(CacheParts parts, TagReader tags, LocalReader local, EntryKeeper keeper)
    {
        _parts = parts;
        _tags = tags;
        _local = local;
        _keeper = keeper;
        parts.Coherence.Attach(new ChangeSink(parts));
    }

    public async ValueTask RemoveAsync(string key, LevelWait wait)
    {
        ArgumentNullException.ThrowIfNull(key);
        _parts.ThrowIfClosed();
        if (!_parts.IsCacheable(key))
        {
            return;
        }

        ulong hash = _parts.Hasher.Hash(key);
        Forget(key, hash);
        if (_parts.HasLevel)
        {
            await _parts.SecondLevel.RemoveAsync(key, hash, wait).ConfigureAwait(false);
            Forget(key, hash);
        }

        _parts.Counters.Add(CacheCount.Removed);
    }

    public ValueTask RemoveAsync(IEnumerable<string> keys, CancellationToken cancellationToken) =>
        AllAsync(keys, static (invalidator, key, wait) => invalidator.RemoveAsync(key, wait), cancellationToken);

    public ValueTask RemoveByTagAsync(IEnumerable<string> tags, CancellationToken cancellationToken) =>
        AllAsync(tags, static (invalidator, tag, wait) => invalidator.RemoveByTagAsync(tag, wait), cancellationToken);

    public async ValueTask RemoveByTagAsync(string tag, LevelWait wait)
    {
        _parts.ThrowIfClosed();
        if (string.IsNullOrWhiteSpace(tag))
        {
            return; // No entry can have this tag.
        }

        if (tag == TagNames.Everything)
        {
            await ClearAsync(wait).ConfigureAwait(false);
            return;
        }

        ulong hash = _parts.Tags.HashOf(tag);
        _parts.Tags.Forget(hash);
        await _parts.SecondLevel.RenewStampAsync(tag, hash, wait).ConfigureAwait(false);
        _parts.Tags.Forget(hash);

        _parts.Counters.Add(CacheCount.TagRemoved);
    }

    public async ValueTask RemoveByTagAsync(IEnumerable<string> tags, TagMatch match, CancellationToken cancellationToken)
    {
        if (match == TagMatch.Any)
        {
            await RemoveByTagAsync(tags, cancellationToken).ConfigureAwait(false);
            return;
        }

        ArgumentOutOfRangeException.ThrowIfNotEqual(match, TagMatch.All);
        _parts.ThrowIfClosed();
        string[] all = [.. (tags ?? []).Distinct(StringComparer.Ordinal)];
        string[] named = [.. all.Where(tag => tag != TagNames.Everything)];
        ArgumentOutOfRangeException.ThrowIfGreaterThan(named.Length, TagState.MostTags, nameof(tags));
        if (Array.Exists(named, string.IsNullOrWhiteSpace) || all.Length == 0)
        {
            return; // No entry can have this tag.
        }

        var wait = new LevelWait(_parts.SecondLevel.NewDeadline(), cancellationToken);
        if (named.Length <= 1)
        {
            await RemoveByTagAsync(named.Length == 1 ? named[0] : TagNames.Everything, wait).ConfigureAwait(false);
            return;
        }

        // The condition is added to the tag that has the fewest, so that as few as possible are dropped (TagState, I2).
        TagStamps present = (await _tags.CaptureAsync(named, topics: null, wait).ConfigureAwait(false))!;
        Tag changed = present.Tags.MinBy(tag => tag.State.Conditions?.Length ?? 0)!;
        ulong[] others = [.. present.Tags.Where(tag => tag != changed).Select(tag => TagState.NumberOf(tag.Name)).Order()];
        changed.Forget();
        await _parts.SecondLevel.AddConditionAsync(changed.Name, changed.Hash, others, wait).ConfigureAwait(false);
        changed.Forget();

        // Entries that stay are found in the first level at once, without a read of the second one.
        await _tags.CaptureAsync([changed.Name], topics: null, wait).ConfigureAwait(false);
        _parts.Counters.Add(CacheCount.TagRemoved);
    }

    public async ValueTask ClearAsync(LevelWait wait)
    {
        _parts.ThrowIfClosed();
        ForgetAll();
        await _parts.SecondLevel.ClearAsync(wait).ConfigureAwait(false);
        ForgetAll();

        _parts.Counters.Add(CacheCount.TagRemoved);
    }

    public async ValueTask ExpireAsync(string key, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(key);
        _parts.ThrowIfClosed();
        if (!_parts.IsCacheable(key))
        {
            return;
        }

        ulong hash = _parts.Hasher.Hash(key);
        ChangeMark mark = _parts.Changes.Mark(hash);
        LocalEntry? old = _local.FindUsable(hash, key);
        await RemoveAsync(key, cancellationToken).ConfigureAwait(false);
        long now = _parts.Clock.NowMs();
        if (old is not null && now < old.UsableUntil && old.UsableUntil > old.FreshUntil)
        {
            // The expired value is kept only if this removal is the only change: no caller has set, created or removed the value since.
            var writer = new SoloFlight(key, hash, isWriter: true);
            _parts.Flights.Add(writer);
            if (_parts.FirstLevel.FindSurely(hash, key) is null)
            {
                LocalEntry expired = EntryConverter.Copy(old, Math.Min(old.FreshUntil, now), old.UsableUntil);
                if (_keeper.KeepLocal(writer, mark, ownChanges: 1, expired))
                {
                    _keeper.Depend(expired, isKept: true);
                }
            }

            _parts.Flights.Remove(writer);
        }
    }

    /// <summary>Removes a key because a change token of its value has changed. Returns at once, and never throws.</summary>
    public void RemoveDependent(string key) => _ = RemoveDependentAsync(key);

    private async Task RemoveDependentAsync(string key)
    {
        try
        {
            await RemoveAsync(key, CancellationToken.None).ConfigureAwait(false);
        }
        catch (ObjectDisposedException)
        {
            // A closed cache serves no values.
        }
#pragma warning disable CA1031 // A change token calls this; an exception would reach no caller.
        catch (Exception fault) when (fault is not OutOfMemoryException)
#pragma warning restore CA1031
        {
            _parts.Log.DependencyNotApplied(key, fault);
        }
    }

    // Runs changes of a second level concurrently, because its round trip may be long, but at most ChangesAtOnce at a time.
    private async ValueTask AllAsync(
        IEnumerable<string> names, Func<CacheInvalidator, string, LevelWait, ValueTask> change, CancellationToken cancellationToken)
    {
        _parts.ThrowIfClosed();
        var wait = new LevelWait(_parts.SecondLevel.NewDeadline(), cancellationToken);
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
        _parts.Flights.Detach(hash);
        _parts.FirstLevel.Remove(hash, key);
        _parts.Dependencies.Drop(key);
    }

    private void ForgetAll()
    {
        _parts.Flights.DetachAll();
        _parts.Tags.ForgetMany(64, 0);
        _parts.FirstLevel.Clear();
    }

    // Applies changes of other processes to the first level, the flights and the tags. Called under the lock of the partition whose changes are
    // applied, so nothing here calls back.
    private sealed class ChangeSink(CacheParts parts) : IChangeSink
    {
        public void OnChanged(ulong hash)
        {
            parts.Flights.Unjoin(hash);
            parts.FirstLevel.RemoveHash(hash);
            parts.Tags.Forget(hash);
        }

        public void OnChangedMany(int shift, ulong value)
        {
            parts.Flights.UnjoinMany(shift, value);
            parts.FirstLevel.RemoveMany(shift, value);
            parts.Tags.ForgetMany(shift, value);
        }
    }
}
