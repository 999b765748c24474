using Cairn.Segments;

namespace Cairn.Eviction;

// Counts entries that leave by expiration or eviction, and reports them to the observer, if there is one.
//
//   I1  Every entry that this opening removes from the index is counted and reported at most once, before its bytes can be reused.
//   I2  An expired entry counts as expired, whether it is swept, evicted, replaced or removed.
//   I3  Without an observer, the report costs one read of a field and one branch.
//
// Markers of leases are not entries of a user: they do not expire and are not reported. Cleared entries are not reported either.
internal sealed unsafe class EntryDepartures(StoreMemory memory, StoreClock clock)
{
    // Volatile, so that an evicting thread sees an observer soon after it was set. No other memory depends on it.
    private volatile IEntryObserver? _observer;

    public IEntryObserver? Observer
    {
        get => _observer;
        set => _observer = value;
    }

    /// <summary>Counts an expired entry that is removed in the background or because its room is needed.</summary>
    public void OnExpired(PartitionBlock* partition, in EntryView entry, bool wasRead)
    {
        if (entry.Type == EntryType.Lease)
        {
            return;
        }

        partition->Expirations++;
        partition->Reclaimed++;
        partition->ExpiredUnread += wasRead ? 0 : 1;
        Report(entry, EntryDeparture.Expired);
    }

    public void OnEvicted(PartitionBlock* partition, in EntryView entry, bool wasRead)
    {
        partition->Evictions++;
        partition->EvictedUnread += wasRead || entry.Type == EntryType.Lease ? 0 : 1;
        Report(entry, EntryDeparture.Evicted);
    }

    /// <summary>Counts an entry that a write replaces, only if it has expired (I2).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void OnReplaced(PartitionBlock* partition, in EntryView entry, bool wasRead)
    {
        if (entry.HasDeadline && HasExpired(partition, entry))
        {
            OnExpired(partition, entry, wasRead);
        }
    }

    /// <summary>Counts an entry that an operation on its key removes, only if it has expired (I2).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void OnRetracted(PartitionBlock* partition, in EntryView entry)
    {
        if (entry.HasDeadline && HasExpired(partition, entry))
        {
            partition->Expirations++;
            Report(entry, EntryDeparture.Expired);
        }
    }

    /// <summary>Counts an entry that is removed from a full bucket to make room for another entry.</summary>
    public void OnDisplaced(PartitionBlock* partition, in EntryView entry, bool wasRead)
    {
        if (entry.HasDeadline && HasExpired(partition, entry))
        {
            OnExpired(partition, entry, wasRead);
        }
        else if (!EntryAccounting.IsCleared(memory, partition, entry.Version, entry.Collection))
        {
            OnEvicted(partition, entry, wasRead);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool HasExpired(PartitionBlock* partition, in EntryView entry) =>
        clock.HasPassed(entry.Deadline) && !EntryAccounting.IsCleared(memory, partition, entry.Version, entry.Collection);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Report(in EntryView entry, EntryDeparture departure)
    {
        if (_observer is { } observer && entry.Type is EntryType.Value or EntryType.Hash)
        {
            observer.OnDeparted(new ReadOnlySpan<byte>(entry.Key, entry.KeyLength), entry.Collection, departure);
        }
    }
}
