using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Local;

// The first level: objects of this process by key, limited in entries and in bytes. A read waits for no lock. It writes only the frequency
// of an entry, at most three times for each entry, and a record if the duel of policies samples the key. A write takes the lock of one shard; a large
// level is divided into shards by hash (LocalShard).
//
//   I1  When a removal, a replacement or Clear returns, no Find that begins later returns the removed entry. Coherence relies on this.
//   I2  When Set returns, neither limit is exceeded, except by entries that other threads are setting at that moment. Those threads evict
//       before they return.
//   I3  onRemoved is called once for every entry that was set, after it has left: evicted, replaced, removed, cleared, or rejected because
//       it is too large. No lock is held during the call.
internal sealed class LocalCache
{
    // A smaller shard has too few entries to tell which are popular. Many more locks than processors bring no benefit.
    private const int EntriesPerShard = 4096;
    private const int BytesPerShard = 1 << 20;
    private const int MaxShards = 16;

    // The number of entries that are visited under one acquisition of a lock when all entries are visited.
    private const int EntriesPerSweep = 512;
    private const int MaxSweeps = 1 << 20;

    private readonly LocalTable[] _tables;
    private readonly HashPlacement _placement;
    private readonly LocalShard[] _shards;
    private readonly LocalBudget _budget;
    private readonly PolicyDuel _duel;
    private readonly Action<LocalEntry>? _onRemoved;

    /// <summary>Creates an empty first level.</summary>
    /// <param name="maxEntries">The maximum number of entries, at least 1.</param>
    /// <param name="maxBytes">The maximum total size of the entries in bytes, at least 1.</param>
    /// <param name="onRemoved">The callback for every entry that left (I3), on the thread that removed it. It must not throw.</param>
    /// <param name="policy">The policy of eviction; null for the best of <see cref="QueuePolicy.Candidates"/> at any time.</param>
    public LocalCache(long maxEntries, long maxBytes, Action<LocalEntry>? onRemoved = null, QueuePolicy? policy = null)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(maxEntries);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(maxBytes);
        _onRemoved = onRemoved;

        long worthwhile = Math.Clamp(Math.Min(maxEntries / EntriesPerShard, maxBytes / BytesPerShard), 1, MaxShards);
        int shardBits = BitOperations.Log2((uint)worthwhile);
        _budget = new LocalBudget(maxEntries, maxBytes, isShared: shardBits > 0);
        _duel = new PolicyDuel(policy);
        _placement = new HashPlacement(shardBits);
        _tables = new LocalTable[1 << shardBits];
        _shards = new LocalShard[_tables.Length];
        for (int index = 0; index < _shards.Length; index++)
        {
            _shards[index] = new LocalShard(_tables, index, _placement, _budget, _duel);
        }
    }

    /// <summary>Finds the entry of a key and counts a use. Waits for no lock, except after a miss while the table grows.</summary>
    public LocalEntry? Find(ulong hash, ReadOnlySpan<char> key)
    {
        int shard = _placement.ShardOf(hash);

        // Acquire, all three; pair with the releases in LocalShard that publish tables, heads and links.
        ref LocalTable table = ref _tables[shard];
        LocalBucket[] buckets = Volatile.Read(ref table.Buckets);
        LocalEntry? entry = Volatile.Read(ref buckets[_placement.BucketOf(hash, buckets.Length)].Head);
        while (entry is not null)
        {
            if (entry.Is(hash, key))
            {
                entry.RaiseFrequency();
                if ((uint)hash < table.SampleBelow)
                {
                    _shards[shard].RecordHit(hash);
                }

                return entry;
            }

            entry = Volatile.Read(ref entry.Next);
        }

        return _shards[shard].IsSettled(buckets) ? null : FindSurely(hash, key);
    }

    /// <summary>Finds the entry of a key under the lock, between two changes, and counts a use.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public LocalEntry? FindSurely(ulong hash, ReadOnlySpan<char> key) => ShardOf(hash).Find(hash, key);

    /// <summary>
    /// Keeps an entry in place of one with the same key, then evicts down to the limits. An entry that is larger than the whole level is not
    /// kept; an earlier entry with its key is removed nevertheless.
    /// </summary>
    /// <param name="entry">The entry. It is set only once, and never again after it left. Its bytes do not change.</param>
    /// <param name="now">The time by the cache's own clock: unusable entries are evicted before usable ones. By default all count as usable.</param>
    public void Set(LocalEntry entry, long now = long.MinValue)
    {
        var departed = new DepartedEntries(_onRemoved);
        int shard = _placement.ShardOf(entry.Hash);
        _shards[shard].Set(entry, now, ref departed);
        if (_budget.IsExceeded)
        {
            EvictElsewhere(shard, now, ref departed);
        }

        departed.Report();
    }

    /// <summary>Removes exactly this entry, not a newer one with its key.</summary>
    /// <returns>False if it had left before.</returns>
    public bool Remove(LocalEntry entry)
    {
        var departed = new DepartedEntries(_onRemoved);
        bool isRemoved = ShardOf(entry.Hash).Remove(entry, ref departed);
        departed.Report();
        return isRemoved;
    }

    /// <summary>Removes the entry of a key.</summary>
    public bool Remove(ulong hash, ReadOnlySpan<char> key)
    {
        var departed = new DepartedEntries(_onRemoved);
        bool isRemoved = ShardOf(hash).Remove(hash, key, ref departed);
        departed.Report();
        return isRemoved;
    }

    /// <summary>Removes the entries of all keys with a hash.</summary>
    /// <returns>The number of removed entries.</returns>
    public int RemoveHash(ulong hash) => Remove(new HashRange(hash, hash), long.MaxValue);

    /// <summary>Removes all entries whose hash, shifted right, equals a value; a shift of 64 means all entries.</summary>
    /// <returns>The number of removed entries.</returns>
    public int RemoveMany(int shift, ulong value) => Remove(HashRange.Of(shift, value), long.MaxValue);

    /// <summary>Returns the entries that match. Visits every entry, some hundreds under each acquisition of a lock.</summary>
    public List<LocalEntry> List(Predicate<LocalEntry> matches)
    {
        var found = new List<LocalEntry>();
        foreach (HashRange part in Parts())
        {
            int last = _placement.ShardOf(part.Last);
            for (int shard = _placement.ShardOf(part.First); shard <= last; shard++)
            {
                _shards[shard].List(part, matches, found);
            }
        }

        return found;
    }

    /// <summary>Removes all unusable entries. Visits every entry, some hundreds under each acquisition of a lock.</summary>
    /// <param name="now">The time by the cache's own clock.</param>
    /// <returns>The number of removed entries.</returns>
    public int RemoveUnusable(long now)
    {
        int count = 0;
        foreach (HashRange part in Parts())
        {
            count += Remove(part, now);
        }

        return count;
    }

    public void Clear()
    {
        foreach (LocalShard shard in _shards)
        {
            var departed = new DepartedEntries(_onRemoved);
            shard.Clear(ref departed);
            departed.Report();
        }
    }

    public LocalCacheStatistics GetStatistics() => new(
        _budget.Entries,
        _budget.Bytes,
        _shards.Sum(shard => shard.Evictions),
        _shards.Sum(shard => shard.TooLarge));

    public DuelStatistics GetPolicyStatistics() => _duel.GetStatistics();

    private LocalShard ShardOf(ulong hash) => _shards[_placement.ShardOf(hash)];

    // The ranges of hashes that together contain all entries. Each has some hundreds, so that no lock is held for long.
    private IEnumerable<HashRange> Parts()
    {
        int worthwhile = (int)Math.Clamp(_budget.Entries / EntriesPerSweep, _shards.Length, MaxSweeps);
        int bits = BitOperations.Log2((uint)worthwhile);
        return Enumerable.Range(0, 1 << bits).Select(part => HashRange.Of(64 - bits, (uint)part));
    }

    private int Remove(HashRange range, long now)
    {
        int count = 0;
        int last = _placement.ShardOf(range.Last);
        for (int shard = _placement.ShardOf(range.First); shard <= last; shard++)
        {
            var departed = new DepartedEntries(_onRemoved);
            _shards[shard].Remove(range, now, ref departed);
            count += departed.Count;
            departed.Report();
        }

        return count;
    }

    // The shard that took the entry has already made as much room as it could within its share. If the level is still over a limit, other
    // shards exceed their shares and evict. If an entry is larger than a share, it may be that only its own shard exceeds its share. That
    // shard comes last: first all other shards evict.
    private void EvictElsewhere(int shard, long now, ref DepartedEntries departed)
    {
        for (int i = 1; i < _shards.Length && _budget.IsExceeded; i++)
        {
            LocalShard other = _shards[(shard + i) & (_shards.Length - 1)];
            if (other.IsBeyondShare)
            {
                other.Evict(onlyBeyondShare: true, now, ref departed);
            }
        }

        for (int i = 1; i <= _shards.Length && _budget.IsExceeded; i++)
        {
            _shards[(shard + i) & (_shards.Length - 1)].Evict(onlyBeyondShare: false, now, ref departed);
        }
    }
}
