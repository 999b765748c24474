using Cairn.Caching.Coherence;
using Cairn.Caching.Local;
using Cairn.Caching.Tagging;
using Cairn.Caching.Telemetry;
using Cairn.Caching.Timing;

namespace Cairn.Caching.Operations;

// The hit. A structure, so that its fields lie in the cache itself: as a class, it would cost a hit of a store one more dependent load, which is
// 4 % of its time.
internal readonly struct LocalHits(CacheParts parts, TagReader tags, EntryConverter converter)
{
    private readonly LevelChanges _changes = parts.Changes;
    private readonly LocalCache _local = parts.FirstLevel;
    private readonly CacheClock _clock = parts.Clock;
    private readonly CacheCounters _counters = parts.Counters;
    private readonly TagChanges _stampChanges = parts.Tags.Changes;
    private readonly CacheMetrics? _tagMetrics = parts.Options.ReportTagMetrics ? parts.Metrics : null;
    private readonly TagReader _tags = tags;
    private readonly EntryConverter _converter = converter;

    /// <summary>The fast path: finds a fresh value that needs no refresh, no extension and no read of the second level.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryHit<T>(ulong hash, ReadOnlySpan<char> key, [MaybeNullWhen(false)] out T value)
    {
        if (_changes.TryCatchUp(hash) // CacheParts, I1
            && _local.Find(hash, key) is { } entry
            && _clock.NowMs() < entry.QuietUntil
            && (entry.Tags is null || AreTagsCurrent(entry))
            && (EntryConverter.TryTakeExact(entry, out value) || _converter.TryTakeOther(entry, out value)))
        {
            CountHit(entry);
            return true;
        }

        value = default;
        return false;
    }

    // Every change of a tag's stamp is counted. If all changes have been applied and the count is the same, the stamps have not changed.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool AreTagsCurrent(LocalEntry entry)
    {
        // Acquire; pairs with the release in CompareTags: TagPartitions is visible when TagsCheckedAt is.
        ulong checkedAt = Volatile.Read(ref entry.TagsCheckedAt);
        return (checkedAt != 0
                && (_changes.Store is not { } store || store.TryCatchUpAll(entry.TagPartitions))
                && _stampChanges.Now == checkedAt)
            || _tags.CompareTags(entry);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CountHit(LocalEntry entry)
    {
        _counters.Add(CacheCount.LocalHit);
        if (_tagMetrics is not null && entry.Tags is { } stamps)
        {
            _tagMetrics.CountTags(stamps, "local_hit");
        }
    }
}
