using System.Numerics;
using System.Runtime.CompilerServices;

namespace Cairn.Caching.Local;

// The first level: objects of this process by key, bounded in entries and in bytes. Reading takes no lock and writes nothing but
// a use, at most three times for an entry; writing takes the lock of one of the shards into which a large level is divided by
// hash (LocalShard).
//
//   I1  When a removal, a replacement or Clear returns, no Find that begins later returns what it removed. Coherence rests on it.
//   I2  When Set returns, neither bound is exceeded but by what other threads are setting at that moment, who see to it before
//       they return.
//   I3  onRemoved is called once for every entry that was set, when it has left: evicted, replaced, removed, cleared, or too
//       large to be let in at all. No lock is held then.
internal sealed class LocalCache
{
    // A shard that is much smaller than this knows too little of what is popular; many more locks than processors are of no use.
    private const int EntriesPerShard = 4096;
    private const int BytesPerShard = 1 << 20;
    private const int MaxShards = 16;

    // How many entries are looked at under one taking of a lock when all are.
    private const int EntriesPerSweep = 512;
    private const int MaxSweeps = 1 << 20;

    private readonly LocalTable[] _tables;
    private readonly HashPlacement _placement;
    private readonly LocalShard[] _shards;
    private readonly LocalBudget _budget;
    private readonly Action<LocalEntry>? _onRemoved;

    /// <summary>An empty one.</summary>
    /// <param name="maxEntries">The most entries it holds, 1 at least.</param>
    /// <param name="maxBytes">The most bytes that its entries have together, 1 at least.</param>
    /// <param name="onRemoved">Told of every entry that left (I3), by the thread that made it leave. Must not throw.</param>
    public LocalCache(long maxEntries, long maxBytes, Action<LocalEntry>? onRemoved = null)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(maxEntries);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(maxBytes);
        _onRemoved = onRemoved;

        long worthwhile = Math.Clamp(Math.Min(maxEntries / EntriesPerShard, maxBytes / BytesPerShard), 1, MaxShards);
        int shardBits = BitOperations.Log2((uint)worthwhile);
        _budget = new LocalBudget(maxEntries, maxBytes, isShared: shardBits > 0);
        _placement = new HashPlacement(shardBits);
        _tables = new LocalTable[1 << shardBits];
        _shards = new LocalShard[_tables.Length];
        for (int index = 0; index < _shards.Length; index++)
        {
            _shards[index] = new LocalShard(_tables, index, _placement, _budget);
        }
    }

    /// <summary>The entry of a key, and counts it as used. Takes no lock, unless it misses while the table grows.</summary>
    public LocalEntry? Find(ulong hash, ReadOnlySpan<char> key)
    {
        int shard = _placement.ShardOf(hash);

        // Acquires; pair with the releases of LocalShard, by which tables, heads and links are published.
        LocalBucket[] buckets = Volatile.Read(ref _tables[shard].Buckets);
        LocalEntry? entry = Volatile.Read(ref buckets[_placement.BucketOf(hash, buckets.Length)].Head);
        while (entry is not null)
        {
            if (entry.Is(hash, key))
            {
                entry.RaiseFrequency();
                return entry;
            }

            entry = Volatile.Read(ref entry.Next);
        }

        return _shards[shard].IsSettled(buckets) ? null : FindSurely(hash, key);
    }

    /// <summary>The entry of a key as it is between two changes, and counts it as used.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public LocalEntry? FindSurely(ulong hash, ReadOnlySpan<char> key) => ShardOf(hash).Find(hash, key);

    /// <summary>
    /// Keeps an entry, in the place of one with the same key, and evicts what is too much then. An entry with more bytes than
    /// all may have is not kept, and an earlier one with its key goes all the same.
    /// </summary>
    /// <param name="entry">Set once only, and never again after it left. Its bytes do not change.</param>
    /// <param name="now">The time by the cache's own clock: what cannot be used any more goes rather than what can. Without it none is past its use.</param>
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

    /// <summary>Removes this very entry, not a newer one with its key.</summary>
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
    /// <returns>How many there were.</returns>
    public int RemoveHash(ulong hash) => Remove(new HashRange(hash, hash), long.MaxValue);

    /// <summary>Removes all entries whose hash, shifted right, is a value; a shift of 64 is all of them.</summary>
    /// <returns>How many there were.</returns>
    public int RemoveMany(int shift, ulong value) => Remove(HashRange.Of(shift, value), long.MaxValue);

    /// <summary>Removes all entries that cannot be used any more. Looks at every entry, at some hundreds under a lock.</summary>
    /// <param name="now">The time by the cache's own clock.</param>
    /// <returns>How many there were.</returns>
    public int RemoveUnusable(long now)
    {
        int worthwhile = (int)Math.Clamp(_budget.Entries / EntriesPerSweep, _shards.Length, MaxSweeps);
        int bits = BitOperations.Log2((uint)worthwhile);
        int count = 0;
        for (int sweep = 0; sweep < 1 << bits; sweep++)
        {
            count += Remove(HashRange.Of(64 - bits, (uint)sweep), now);
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

    private LocalShard ShardOf(ulong hash) => _shards[_placement.ShardOf(hash)];

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

    // The shard that took an entry in has made what room it could within its share. If the level is still over a bound, then
    // shards are over theirs. Where an entry is larger than a share that is only its own shard, which comes last: then
    // the others give what they have.
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
