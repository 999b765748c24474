using Cairn.Caching.Coherence;
using Cairn.Caching.Flights;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Policies;
using Cairn.Caching.Serialization;
using Cairn.Caching.Telemetry;

namespace Cairn.Caching.Operations;

// Reads of both levels without a factory.
internal sealed class ValueReader(CacheParts parts, LocalHits hits, EntryConverter converter, LocalReader local, SharedReader shared, EntryKeeper keeper)
{
    /// <summary>Reads one value for which the first level has no hit.</summary>
    public ValueTask<CacheResult<T>> ReadAsync<T>(string key, ulong hash, EntryPolicy policy, bool allowStale, CancellationToken cancellationToken) =>
        ReadAsync<T>(key, hash, policy, allowStale, new LevelWait(parts.SecondLevel.NewDeadline(), cancellationToken));

    private async ValueTask<CacheResult<T>> ReadAsync<T>(string key, ulong hash, EntryPolicy policy, bool allowStale, LevelWait wait)
    {
        parts.ThrowIfClosed();
        if (!parts.IsCacheable(key))
        {
            return default;
        }

        var flight = new SoloFlight(key, hash, isWriter: false) { Began = parts.BeganNow() };
        parts.Flights.Add(flight);
        try
        {
            ChangeMark mark = parts.Changes.Mark(hash);
            LocalEntry? stale = null;
            if (policy.ReadsLocal && await local.FindCurrentAsync(key, hash, wait).ConfigureAwait(false) is { } found)
            {
                if (local.TryTakeFresh(found, policy, out T? value))
                {
                    return new CacheResult<T>(IsFound: true, value, IsStale: false);
                }

                stale = found;
            }

            if (parts.HasLevel && policy.ReadsShared)
            {
                using var buffer = new PooledBuffer();
                LevelStatus status = await parts.SecondLevel.ReadAsync(key, hash, buffer, wait).ConfigureAwait(false);
                LocalEntry? read = status == LevelStatus.Hit
                    ? await shared.DecodeAsync<T>(key, hash, buffer.WrittenMemory, policy, wait).ConfigureAwait(false)
                    : null;
                if (read is not null && parts.Clock.NowMs() < read.FreshUntil && converter.TryTake(read, out T? value))
                {
                    keeper.KeepRead(flight, mark, read, policy);
                    parts.Counters.Add(CacheCount.SharedHit);
                    return new CacheResult<T>(IsFound: true, value, IsStale: false);
                }

                stale = read ?? stale;
            }

            if (allowStale && stale is not null && parts.Clock.NowMs() < stale.UsableUntil && converter.TryTake(stale, out T? old))
            {
                parts.Counters.Add(CacheCount.StaleServed);
                return new CacheResult<T>(IsFound: true, old, IsStale: true);
            }

            parts.Counters.Add(CacheCount.Miss);
            return default;
        }
        finally
        {
            parts.Flights.Remove(flight);
        }
    }

    /// <summary>Reads many values. One request to the second level reads those that the first level does not have.</summary>
    public async ValueTask<CacheResult<T>[]> ReadManyAsync<T>(IReadOnlyList<string> keys, CairnEntryOptions? options, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(keys);
        parts.ThrowIfClosed();
        EntryPolicy policy = parts.Defaults.With(options);
        var wait = new LevelWait(parts.SecondLevel.NewDeadline(), cancellationToken);
        var results = new CacheResult<T>[keys.Count];
        var missing = new List<int>();
        for (int i = 0; i < results.Length; i++)
        {
            ArgumentNullException.ThrowIfNull(keys[i], nameof(keys));
            ulong hash = parts.Hasher.Hash(keys[i]);
            if (policy.ReadsLocal && (hits.TryHit(hash, keys[i], out T? value)
                || local.TryTakeFresh(await local.FindCurrentAsync(keys[i], hash, wait).ConfigureAwait(false), policy, out value)))
            {
                results[i] = new CacheResult<T>(IsFound: true, value, IsStale: false);
            }
            else if (parts.IsCacheable(keys[i]))
            {
                missing.Add(i);
            }
        }

        if (parts.HasLevel && policy.ReadsShared && missing.Count > 0)
        {
            await ReadMissingAsync(keys, missing, results, policy, wait).ConfigureAwait(false);
        }
        else
        {
            foreach (int i in missing)
            {
                results[i] = await ReadAsync<T>(keys[i], parts.Hasher.Hash(keys[i]), policy, allowStale: false, wait).ConfigureAwait(false);
            }
        }

        return results;
    }

    private async ValueTask ReadMissingAsync<T>(
        IReadOnlyList<string> keys, List<int> missing, CacheResult<T>[] results, EntryPolicy policy, LevelWait wait)
    {
        var names = new string[missing.Count];
        var hashes = new ulong[missing.Count];
        var flights = new SoloFlight[missing.Count];
        var marks = new ChangeMark[missing.Count];
        var buffers = new PooledBuffer[missing.Count];
        var statuses = new LevelStatus[missing.Count];
        for (int i = 0; i < names.Length; i++)
        {
            names[i] = keys[missing[i]];
            hashes[i] = parts.Hasher.Hash(names[i]);
            buffers[i] = new PooledBuffer();
            flights[i] = new SoloFlight(names[i], hashes[i], isWriter: false) { Began = parts.BeganNow() };
            parts.Flights.Add(flights[i]);
            marks[i] = parts.Coherence.Mark(hashes[i]);
        }

        try
        {
            await parts.SecondLevel.ReadManyAsync(names, hashes, buffers, statuses, wait).ConfigureAwait(false);
            for (int i = 0; i < names.Length; i++)
            {
                if (statuses[i] == LevelStatus.Hit
                    && await shared.DecodeAsync<T>(names[i], hashes[i], buffers[i].WrittenMemory, policy, wait).ConfigureAwait(false) is { } read
                    && parts.Clock.NowMs() < read.FreshUntil && converter.TryTake(read, out T? value))
                {
                    keeper.KeepRead(flights[i], marks[i], read, policy);
                    parts.Counters.Add(CacheCount.SharedHit);
                    results[missing[i]] = new CacheResult<T>(IsFound: true, value, IsStale: false);
                }
                else
                {
                    parts.Counters.Add(CacheCount.Miss);
                }
            }
        }
        finally
        {
            foreach (SoloFlight flight in flights)
            {
                parts.Flights.Remove(flight);
            }

            foreach (PooledBuffer buffer in buffers)
            {
                buffer.Dispose();
            }
        }
    }
}
