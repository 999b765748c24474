using Cairn.Eviction.Dueling;

namespace Cairn.Caching.Local;

// A part of the first level: the entries whose hashes begin with the same bits, their table and their queues.
//
//   I1  An entry is in its bucket's chain if and only if it is in a queue; its place names the queue.
//   I2  From the head of a bucket of the published table, only entries that have not left are reachable. An entry that leaves is retracted
//       from its chain before the lock is released.
//   I3  The order of a chain does not change: an entry is inserted at the head or in the place of the entry that it replaces, and an entry
//       that left keeps its link. So a reader without the lock meets every entry that is present during its whole walk.
//   I4  Growing moves entries into the chains of a new table, which breaks I3. Leaving names the old table from before the first move until
//       the new table is published: a reader that misses in a table that Leaving names, or that is no longer published, searches again.
//
// Eviction follows the policy that PolicyDuel chose. All policies have the queues of S3-FIFO (Yang, Zhang, Qiu, Yue and Rashmi, "FIFO queues are all
// you need for cache eviction", SOSP 2023):
//
//   new --> small --used often enough--> main --used--> main (again the newest, with one use less)
//             |                            `--not used--> evicted
//             `--otherwise--> evicted, remembered in ghost --set again--> main
//
// They differ in the share of the small queue, in the uses that bring an entry into the main queue and in the length of the ghost queue. Two of them
// keep an entry that leaves the small queue only if it was used more often than the next victim of the main queue, by a frequency sketch (Einziger,
// Friedman and Manes, "TinyLFU", 2017). The sketch learns of uses when an entry is inserted, rotated, promoted or evicted, so that a hit
// writes only the frequency. An unusable entry is evicted when its turn comes, regardless of its uses.
internal sealed class LocalShard
{
    private const int SmallestTable = 16;
    private const int MostChances = 10_000;

    private readonly Lock _lock = new();
    private readonly HashPlacement _placement;
    private readonly LocalBudget _budget;
    private readonly LocalTable[] _tables;
    private readonly int _index;
    private readonly long _shareOfEntries;
    private readonly long _shareOfBytes;
    private readonly PolicyDuel _duel;
    private readonly GhostQueue _ghost = new();

    private LocalQueue _small = new(LocalPlace.Small);
    private LocalQueue _main = new(LocalPlace.Main);
    private LocalBucket[]? _leaving;
    private QueuePolicy _policy;
    private long _smallEntries;
    private long _smallBytes;

    // The handovers of the duel that began here, and the entries of the main queue that the last one has not examined yet.
    private int _handovers;
    private int _leftOver;

    // Null while the policy does not compare frequencies.
    private FrequencySketch? _sketch;

    // Null until the shard evicts for the first time, or if the level has a fixed policy.
    private ShadowSet? _shadows;

    // Changes under this lock that are not in the budget yet. Additions and removals mostly cancel out, and then the budget, which all shards
    // change, is not touched.
    private int _uncountedEntries;
    private long _uncountedBytes;
    private long _evictions;
    private long _tooLarge;

    /// <summary>Creates an empty shard with the smallest table.</summary>
    /// <param name="tables">The published tables of all shards.</param>
    /// <param name="index">The index of this shard's table.</param>
    /// <param name="placement">The placement of hashes.</param>
    /// <param name="budget">The common limits of all shards.</param>
    /// <param name="duel">The choice of the policy, common to all shards.</param>
    public LocalShard(LocalTable[] tables, int index, HashPlacement placement, LocalBudget budget, PolicyDuel duel)
    {
        _tables = tables;
        _index = index;
        _placement = placement;
        _budget = budget;
        _shareOfEntries = budget.MaxEntries / tables.Length;
        _shareOfBytes = budget.MaxBytes / tables.Length;
        _duel = duel;
        _policy = duel.Ruling;
        Follow(_policy);
        tables[index].Buckets = new LocalBucket[SmallestTable];
    }

    public long Evictions => Volatile.Read(ref _evictions);

    public long TooLarge => Volatile.Read(ref _tooLarge);

    /// <summary>Whether the shard exceeds its share of a limit that the level exceeds. Without the lock this is a hint.</summary>
    public bool IsBeyondShare =>
        (_budget.HasTooManyEntries && Count > _shareOfEntries) || (_budget.HasTooManyBytes && Bytes > _shareOfBytes);

    private bool HasTooManyEntries => _budget.Entries + _uncountedEntries > _budget.MaxEntries;

    private bool HasTooManyBytes => _budget.Bytes + _uncountedBytes > _budget.MaxBytes;

    private int Count => _small.Count + _main.Count;

    private long Bytes => _small.Bytes + _main.Bytes;

    /// <summary>Returns whether a key that was not found in the buckets was not present (I4).</summary>
    public bool IsSettled(LocalBucket[] buckets)
    {
        // Acquire, in this order; pairs with the releases in Grow. A walk that followed a link of the new table began or ended after Leaving
        // was set. So it sees either Leaving or, after the growth, the new table.
        return Volatile.Read(ref _leaving) != buckets && Volatile.Read(ref _tables[_index].Buckets) == buckets;
    }

    /// <summary>Records a hit of a sampled key for the duel of policies. Does not wait for the lock.</summary>
    public void RecordHit(ulong hash)
    {
        // A stale reference records into shadows that are no longer used.
        if (_shadows is { } shadows && shadows.RecordHit(hash) && _lock.TryEnter())
        {
            try
            {
                shadows.Replay();
                if (shadows.Stage != _duel.Stage)
                {
                    BeginShadows();
                }
            }
            finally
            {
                _lock.Exit();
            }
        }
    }

    public LocalEntry? Find(ulong hash, ReadOnlySpan<char> key)
    {
        lock (_lock)
        {
            LocalEntry? entry = FindLocked(hash, key);
            entry?.RaiseFrequency();
            return entry;
        }
    }

    /// <summary>Inserts an entry in place of one with the same key, and evicts entries of this shard beyond its share.</summary>
    public void Set(LocalEntry entry, long now, ref DepartedEntries departed)
    {
        Debug.Assert(entry.Bytes >= 0, "Nothing takes less than no room.");
        lock (_lock)
        {
            if (entry.Place != LocalPlace.New)
            {
                throw new InvalidOperationException($"The entry of '{entry.Key}' was set before; each is set once.");
            }

            LocalEntry? old = FindLocked(entry.Hash, entry.Key);
            if (entry.Bytes > _budget.MaxBytes)
            {
                _tooLarge++;
                departed.Add(entry);
                if (old is not null)
                {
                    TakeOut(old, ref departed);
                }
            }
            else if (old is null)
            {
                Insert(entry, now, ref departed);
            }
            else
            {
                Replace(old, entry, now, ref departed);
            }

            Settle();
        }
    }

    public bool Remove(LocalEntry entry, ref DepartedEntries departed)
    {
        lock (_lock)
        {
            if (entry.Place is not (LocalPlace.Small or LocalPlace.Main))
            {
                return false;
            }

            TakeOut(entry, ref departed);
            Settle();
            return true;
        }
    }

    public bool Remove(ulong hash, ReadOnlySpan<char> key, ref DepartedEntries departed)
    {
        lock (_lock)
        {
            // A shadow may hold a key that this shard has evicted.
            _shadows?.Remove(hash);
            if (FindLocked(hash, key) is not { } entry)
            {
                return false;
            }

            Take(entry, ref departed);
            Settle();
            return true;
        }
    }

    /// <summary>Removes all entries whose hashes are in the range and that are unusable at the given time.</summary>
    public void Remove(HashRange range, long now, ref DepartedEntries departed)
    {
        lock (_lock)
        {
            if (range.First == range.Last)
            {
                _shadows?.Remove(range.First);
            }

            foreach (LocalBucket bucket in BucketsOf(range))
            {
                LocalEntry? next;
                for (LocalEntry? entry = bucket.Head; entry is not null; entry = next)
                {
                    next = entry.Next;
                    if (range.Contains(entry.Hash) && !entry.IsUsable(now))
                    {
                        TakeOut(entry, ref departed);
                    }
                }
            }

            Settle();
        }
    }

    /// <summary>Adds the entries whose hashes are in the range and that match to a list.</summary>
    public void List(HashRange range, Predicate<LocalEntry> matches, List<LocalEntry> found)
    {
        lock (_lock)
        {
            foreach (LocalBucket bucket in BucketsOf(range))
            {
                for (LocalEntry? entry = bucket.Head; entry is not null; entry = entry.Next)
                {
                    if (range.Contains(entry.Hash) && matches(entry))
                    {
                        found.Add(entry);
                    }
                }
            }
        }
    }

    /// <summary>Removes all entries, and forgets the evicted keys.</summary>
    public void Clear(ref DepartedEntries departed)
    {
        lock (_lock)
        {
            // Release; a reader that begins now finds nothing (I2). The chains of the old table remain for concurrent readers.
            Volatile.Write(ref _tables[_index].Buckets, new LocalBucket[SmallestTable]);
            _budget.Add(-Count, -Bytes);
            Empty(ref _small, ref departed);
            Empty(ref _main, ref departed);
            _small = new LocalQueue(LocalPlace.Small);
            _main = new LocalQueue(LocalPlace.Main);
            _ghost.Clear();
            _sketch = null;
            _shadows = null;
            _tables[_index].SampleBelow = 0;
        }
    }

    /// <summary>Evicts while the level exceeds a limit and this shard has more than its share, or any entry.</summary>
    public void Evict(bool onlyBeyondShare, long now, ref DepartedEntries departed)
    {
        lock (_lock)
        {
            while (_budget.IsExceeded && Count > 0 && (!onlyBeyondShare || IsBeyondShare))
            {
                EvictOne(now, ref departed);
                Settle();
            }
        }
    }

    // The buckets that can contain entries with hashes in the range.
    private ReadOnlySpan<LocalBucket> BucketsOf(HashRange range)
    {
        LocalBucket[] buckets = Buckets;
        int first = _placement.ShardOf(range.First) < _index ? 0 : _placement.BucketOf(range.First, buckets.Length);
        int last = _placement.ShardOf(range.Last) > _index ? buckets.Length - 1 : _placement.BucketOf(range.Last, buckets.Length);
        return buckets.AsSpan(first, last - first + 1);
    }

    private LocalBucket[] Buckets => _tables[_index].Buckets;

    private LocalEntry? FindLocked(ulong hash, ReadOnlySpan<char> key)
    {
        LocalBucket[] buckets = Buckets;
        LocalEntry? entry = buckets[_placement.BucketOf(hash, buckets.Length)].Head;
        while (entry is not null && !entry.Is(hash, key))
        {
            entry = entry.Next;
        }

        return entry;
    }

    private void Insert(LocalEntry entry, long now, ref DepartedEntries departed)
    {
        CountLater(1, entry.Bytes);
        _sketch?.Add(entry.Hash, 1);
        MakeRoom(1, entry.Bytes, now, ref departed);
        _shadows?.RecordInsert(entry.Hash, now);
        (_policy.GhostsPerMainEntry > 0 && _ghost.TryTake(entry.Hash) ? ref _main : ref _small).Add(entry);

        LocalBucket[] buckets = Buckets;
        if (Count > buckets.Length / 4 * 3)
        {
            buckets = Grow(buckets);
        }

        ref LocalEntry? head = ref buckets[_placement.BucketOf(entry.Hash, buckets.Length)].Head;
        entry.Next = head;

        // Release; pairs with the acquire in LocalCache.Find, which must see the complete entry.
        Volatile.Write(ref head, entry);
    }

    // The new entry takes the old one's place in the chain and in its queue, and its frequency: the key is popular, not the entry.
    private void Replace(LocalEntry old, LocalEntry entry, long now, ref DepartedEntries departed)
    {
        entry.Frequency = old.Frequency;
        entry.Next = old.Next;

        // Release, as in Insert.
        Volatile.Write(ref LinkTo(old), entry);
        ref LocalQueue queue = ref QueueOf(old);
        queue.Replace(old, entry);
        departed.Add(old);
        CountLater(0, entry.Bytes - old.Bytes);
        if (HasTooManyBytes)
        {
            // The entry must not be evicted to make room for itself. Only in this case does a replacement make an entry the newest.
            queue.Remove(entry);
            MakeRoom(1, entry.Bytes, now, ref departed);
            queue.Add(entry);
        }
    }

    // The new entry is already counted, but is not in this shard's queues yet.
    private void MakeRoom(int entries, long bytes, long now, ref DepartedEntries departed)
    {
        while (Count > 0 &&
            ((HasTooManyEntries && Count + entries > _shareOfEntries) ||
                (HasTooManyBytes && Bytes + bytes > _shareOfBytes)))
        {
            EvictOne(now, ref departed);
        }
    }

    private void EvictOne(long now, ref DepartedEntries departed)
    {
        if (_shadows is null || _shadows.Stage != _duel.Stage || _duel.HasOutgrown(_budget.Entries))
        {
            BeginShadows();
        }

        if (_duel.Ruling is var ruling && !ReferenceEquals(ruling, _policy))
        {
            Follow(ruling);
        }

        if (_duel.Handovers is var handovers && handovers != _handovers)
        {
            _handovers = handovers;
            _leftOver = _main.Count;
        }

        if (_policy.ComparesFrequency && (_sketch is null || _sketch.Entries < Count / 2))
        {
            _sketch = new FrequencySketch(Count, _tables.Length);
        }

        LocalEntry victim = ChooseVictim(now);
        _sketch?.Add(victim.Hash, victim.Frequency);
        if (victim.Place == LocalPlace.Small || _policy.RemembersMain)
        {
            // Computed from the present entries, not from the limit: if the limit in bytes applies, there are fewer.
            _ghost.Add(victim.Hash, _policy.GhostSpan(Count));
        }

        _evictions++;
        Take(victim, ref departed);
    }

    private void Follow(QueuePolicy policy)
    {
        _policy = policy;
        _smallEntries = policy.SmallOf(_shareOfEntries);
        _smallBytes = policy.SmallOf(_shareOfBytes);
        _sketch = policy.ComparesFrequency ? _sketch : null;
    }

    private void BeginShadows()
    {
        if (!_duel.TryBegin(_budget.Entries))
        {
            return;
        }

        int stage = _duel.Stage;
        if (_shadows is not { } shadows || shadows.Sample != _duel.Sample)
        {
            var present = new List<PresentKey>();
            _main.AddPresent(present, _duel.SampleBelow);
            _small.AddPresent(present, _duel.SampleBelow);

            // Release; a hit without the lock records into complete shadows.
            shadows = new ShadowSet(_duel, present);
            Volatile.Write(ref _shadows, shadows);
        }

        shadows.Stage = stage;
        _tables[_index].SampleBelow = shadows.SampleBelow;
    }

    private LocalEntry ChooseVictim(long now)
    {
        if (_policy.OrdersByUse)
        {
            return OldestByUse(now);
        }

        if (_policy.ComparesFrequency && (HasTooManyEntries || _main.Bytes < (_shareOfBytes - _smallBytes) / 4 * 3))
        {
            // The main queue is that short when the level is full for the first time, after another policy, and after removals.
            while (_small.Count > _smallEntries || (_small.Bytes > _smallBytes && _small.Count > 1))
            {
                Promote(_small.Oldest!);
            }
        }

        while (((IsSmallFull && _leftOver == 0) || _main.Count == 0) && VictimOfSmall(now) is { } oldest)
        {
            if (!_policy.ComparesFrequency || _main.Count == 0 || !oldest.IsUsable(now))
            {
                return oldest;
            }

            LocalEntry rival = VictimOfMain(now);
            bool isRivalUsable = rival.IsUsable(now);
            if (isRivalUsable && UsesOf(oldest) <= UsesOf(rival) + _policy.Margin)
            {
                return oldest;
            }

            // A new entry that is larger than the small queue's share takes room from the main queue. Only entries that win a comparison fill it again.
            Promote(oldest);
            if (!isRivalUsable || HasTooManyEntries || _main.Bytes > _shareOfBytes - _smallBytes)
            {
                return rival;
            }
        }

        return VictimOfMain(now);
    }

    private bool IsSmallFull => _small.Count >= _smallEntries || _small.Bytes >= _smallBytes;

    /// <summary>
    /// Returns the oldest entry of the small queue that was not used often enough or is unusable. Moves the entries before it to the main queue.
    /// </summary>
    private LocalEntry? VictimOfSmall(long now)
    {
        while (_small.Oldest is { } oldest)
        {
            if (oldest.Frequency < _policy.UsesForMain || !oldest.IsUsable(now))
            {
                return oldest;
            }

            Promote(oldest);
        }

        return null;
    }

    // Used entries return to the small queue, unused ones move to the main queue and then leave. Bounded as VictimOfMain.
    private LocalEntry OldestByUse(long now)
    {
        for (long chances = Math.Min(Count * 2L, MostChances); ; chances--)
        {
            while (_small.Count > _smallEntries || (_small.Bytes > _smallBytes && _small.Count > 1))
            {
                LocalEntry first = _small.Oldest!;
                bool isKept = first.Frequency > 0 && first.IsUsable(now) && chances-- > 0;
                Move(first, ref _small, ref isKept ? ref _small : ref _main);
            }

            LocalEntry last = _main.Oldest ?? _small.Oldest!;
            if (last.Frequency == 0 || !last.IsUsable(now) || last.Place == LocalPlace.Small || chances <= 0)
            {
                return last;
            }

            Move(last, ref _main, ref _small);
        }
    }

    private static void Move(LocalEntry entry, ref LocalQueue source, ref LocalQueue target)
    {
        source.Remove(entry);
        entry.Frequency = 0;
        target.Add(entry);
    }

    private LocalEntry VictimOfMain(long now)
    {
        // After this many rotations every entry has lost all its uses, if there were none meanwhile. If there were, or if many entries are
        // popular, the loop ends nevertheless, because other threads wait for the lock.
        long chances = Math.Min((long)_main.Count * QueuePolicy.MaxFrequency, MostChances);
        LocalEntry oldest = _main.Oldest!;
        for (; oldest.Frequency > 0 && oldest.IsUsable(now) && chances > 0; chances--)
        {
            oldest.Frequency--;
            _leftOver = Math.Max(0, _leftOver - 1);
            _sketch?.Add(oldest.Hash, 1);
            _main.Rotate();
            oldest = _main.Oldest!;
        }

        _leftOver = Math.Max(0, _leftOver - 1);
        return oldest;
    }

    private void Promote(LocalEntry entry)
    {
        _sketch?.Add(entry.Hash, entry.Frequency);
        Move(entry, ref _small, ref _main);
    }

    private int UsesOf(LocalEntry entry) => _sketch!.Estimate(entry.Hash) + entry.Frequency;

    /// <summary>Removes an entry that is not evicted: the shadows forget it too.</summary>
    private void TakeOut(LocalEntry entry, ref DepartedEntries departed)
    {
        _shadows?.Remove(entry.Hash);
        Take(entry, ref departed);
    }

    /// <summary>Removes an entry from its chain and its queue.</summary>
    private void Take(LocalEntry entry, ref DepartedEntries departed)
    {
        // Release, so that a reader that sees the link sees the entry behind it. The entry keeps its own link (I3).
        Volatile.Write(ref LinkTo(entry), entry.Next);
        QueueOf(entry).Remove(entry);
        CountLater(-1, -entry.Bytes);
        departed.Add(entry);
    }

    private void CountLater(int entries, long bytes)
    {
        _uncountedEntries += entries;
        _uncountedBytes += bytes;
    }

    /// <summary>Adds the collected changes to the budget, before the lock is released.</summary>
    private void Settle()
    {
        if (_uncountedEntries != 0 || _uncountedBytes != 0)
        {
            _budget.Add(_uncountedEntries, _uncountedBytes);
            _uncountedEntries = 0;
            _uncountedBytes = 0;
        }
    }

    /// <summary>Returns the link of the chain that leads to an entry, which must be present.</summary>
    private ref LocalEntry? LinkTo(LocalEntry entry)
    {
        LocalBucket[] buckets = Buckets;
        ref LocalEntry? link = ref buckets[_placement.BucketOf(entry.Hash, buckets.Length)].Head;
        while (link != entry)
        {
            link = ref link!.Next;
        }

        return ref link;
    }

    private ref LocalQueue QueueOf(LocalEntry entry)
    {
        if (entry.Place == LocalPlace.Small)
        {
            return ref _small;
        }

        Debug.Assert(entry.Place == LocalPlace.Main, "I1: what is in the chain is in a queue.");
        return ref _main;
    }

    private LocalBucket[] Grow(LocalBucket[] old)
    {
        var buckets = new LocalBucket[old.Length * 2];

        // Full fence, stronger than a release: the moves below must not become visible before this write. Pairs with IsSettled.
        Interlocked.Exchange(ref _leaving, old);
        foreach (LocalBucket bucket in old)
        {
            LocalEntry? next;
            for (LocalEntry? entry = bucket.Head; entry is not null; entry = next)
            {
                next = entry.Next;
                ref LocalEntry? head = ref buckets[_placement.BucketOf(entry.Hash, buckets.Length)].Head;
                Volatile.Write(ref entry.Next, head);
                head = entry;
            }
        }

        // Release, in this order; pairs with IsSettled, which reads them in the opposite order.
        Volatile.Write(ref _tables[_index].Buckets, buckets);
        Volatile.Write(ref _leaving, null);
        return buckets;
    }

    private static void Empty(ref LocalQueue queue, ref DepartedEntries departed)
    {
        while (queue.Oldest is { } entry)
        {
            queue.Remove(entry);
            departed.Add(entry);
        }
    }
}

/// <summary>The table of one shard. A structure, because taking a reference to an element of an array of references costs a type check.</summary>
[StructLayout(LayoutKind.Auto)]
internal struct LocalTable
{
    public LocalBucket[] Buckets;

    /// <summary>
    /// <see cref="ShadowSet.SampleBelow"/>; 0 while there are no shadows. Here, because a hit needs the table's line of the processor's cache anyway. A stale
    /// read records a hit of a key that the shadows do not sample, or does not record one that they sample.
    /// </summary>
    public uint SampleBelow;
}

/// <summary>The head of the chain of a bucket.</summary>
[StructLayout(LayoutKind.Auto)]
internal struct LocalBucket
{
    public LocalEntry? Head;
}
