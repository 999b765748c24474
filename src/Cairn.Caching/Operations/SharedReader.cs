using Cairn.Caching.Coherence;
using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Serialization;
using Cairn.Caching.Telemetry;

namespace Cairn.Caching.Operations;

// Reads of the second level. The first level keeps the values, if the policy allows it.
internal sealed class SharedReader(CacheParts parts, TagReader tags, EntryConverter converter, EntryKeeper keeper)
{
    /// <summary>Reads the second level if that needs no wait; otherwise it returns false without a read.</summary>
    /// <param name="key">The key.</param>
    /// <param name="hash">The hash of the key.</param>
    /// <param name="policy">The policy of the call.</param>
    /// <param name="stale">An expired entry; set to the one that is read if it was null.</param>
    /// <param name="hasLooked">True if the second level was read.</param>
    /// <param name="isUseless">True if the entry cannot be used by any caller: it has another type, is damaged, or has an invalidated tag.</param>
    /// <param name="value">The value, if it is fresh.</param>
    public bool TryReadNow<T>(
        string key, ulong hash, EntryPolicy policy, ref LocalEntry? stale, out bool hasLooked, out bool isUseless, [MaybeNullWhen(false)] out T value)
    {
        isUseless = false;
        value = default;
        int detaches = parts.Flights.Detaches(hash);
        ChangeMark mark = parts.Coherence.Mark(hash);
        PooledBuffer buffer = ThreadBuffer.Take();
        LocalEntry? entry = null;
        hasLooked = parts.SecondLevel.TryReadNow(key, hash, buffer, out LevelStatus status);
        if (hasLooked && status == LevelStatus.Hit)
        {
            // Not completed at once: the stamp of a tag must be read from the second level.
            ValueTask<LocalEntry?> decoding = DecodeAsync<T>(key, hash, buffer.WrittenMemory, policy, CancellationToken.None);
            entry = decoding.IsCompletedSuccessfully ? decoding.Result : null;
            hasLooked = decoding.IsCompletedSuccessfully;
            isUseless = hasLooked && entry is null;
        }

        ThreadBuffer.Return(buffer);
        if (entry is null)
        {
            return false;
        }

        if (parts.Clock.NowMs() >= entry.FreshUntil)
        {
            stale ??= entry;
            return false;
        }

        if (!converter.TryTake(entry, out value))
        {
            isUseless = true;
            return false;
        }

        if (policy.WritesLocal)
        {
            keeper.KeepReadNow(entry, mark, detaches);
        }

        parts.Counters.Add(CacheCount.SharedHit);
        return true;
    }

    /// <summary>Reads a fresh entry for a flight. The flight remembers an expired or useless one.</summary>
    public async ValueTask<LocalEntry?> ReadFreshAsync<T>(ValueFlight<T> flight, ChangeMark mark, EntryPolicy policy, bool isRefresh)
    {
        PooledBuffer buffer = ThreadBuffer.Take();
        LocalEntry? entry;
        try
        {
            LevelStatus status = await parts.SecondLevel.ReadAsync(flight.Key, flight.Hash, buffer, flight.Wait).ConfigureAwait(false);
            if (status != LevelStatus.Hit)
            {
                return null;
            }

            entry = await DecodeAsync<T>(flight.Key, flight.Hash, buffer.WrittenMemory, policy, flight.Wait).ConfigureAwait(false);
        }
        finally
        {
            ThreadBuffer.Return(buffer);
        }

        if (entry is null)
        {
            flight.ReplacesUseless = true;
            return null;
        }

        long now = parts.Clock.NowMs();
        bool isNewer = !isRefresh || flight.Stale is not { } refreshed || entry.FreshUntil > refreshed.FreshUntil;
        if (now < entry.FreshUntil && isNewer)
        {
            keeper.KeepRead(flight, mark, entry, policy);
            return entry;
        }

        if (now < entry.UsableUntil && flight.Stale is null)
        {
            flight.Stale = entry;
        }

        return null;
    }

    /// <summary>Returns an entry of the second level if it passes validation: it is complete, of this type, still usable, and its tags are unchanged.</summary>
    public ValueTask<LocalEntry?> DecodeAsync<T>(string key, ulong hash, ReadOnlyMemory<byte> envelope, EntryPolicy policy, LevelWait wait)
    {
        LocalEntry? entry = converter.Decode<T>(key, hash, envelope, policy);
        return entry?.Tags is null ? new ValueTask<LocalEntry?>(entry) : CheckTagsAsync(entry, wait);
    }

    // The second level does not report the eviction of a stamp that this process remembers. So the stamp is read again before an entry is
    // rejected because of it.
    private async ValueTask<LocalEntry?> CheckTagsAsync(LocalEntry entry, LevelWait wait) =>
        (parts.Coherence.SeesAllChanges && await tags.AreCurrentAsync(entry.Tags!, mayBeKnown: true, wait).ConfigureAwait(false))
        || await tags.AreCurrentAsync(entry.Tags!, mayBeKnown: false, wait).ConfigureAwait(false)
            ? entry
            : null;
}
