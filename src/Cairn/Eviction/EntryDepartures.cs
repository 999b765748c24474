using System.Runtime.CompilerServices;
using Cairn.Segments;
using Cairn.Storage;

namespace Cairn.Eviction;

// Counts entries that leave by expiry or by eviction, and reports them to the observer, if there is one.
//
//   I1  Every entry that this opening takes out of the index is counted and reported at most once, before its bytes can be reused.
//   I2  An entry whose time had passed counts as expired, however it left: swept, evicted, replaced or removed.
//   I3  Without an observer the report costs one read of a field and one branch.
//
// Markers of leases are not entries of a user: they do not expire and are not reported. Nor is what a clearing covered.
internal sealed unsafe class EntryDepartures(StoreMemory memory, StoreClock clock)
{
    // Volatile, so that a thread that evicts sees an observer soon after it was set. No other memory depends on it.
    private volatile IEntryObserver? _observer;

    public IEntryObserver? Observer
    {
        get => _observer;
        set => _observer = value;
    }

    /// <summary>An expired entry is removed in the background, or because its room is needed.</summary>
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

    /// <summary>A write replaces the entry, which counts only if its time had passed (I2).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void OnReplaced(PartitionBlock* partition, in EntryView entry, bool wasRead)
    {
        if (entry.HasDeadline && HasExpired(partition, entry))
        {
            OnExpired(partition, entry, wasRead);
        }
    }

    /// <summary>An operation on the key removes the entry, which counts only if its time had passed (I2).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void OnRetracted(PartitionBlock* partition, in EntryView entry)
    {
        if (entry.HasDeadline && HasExpired(partition, entry))
        {
            partition->Expirations++;
            Report(entry, EntryDeparture.Expired);
        }
    }

    /// <summary>An entry gives way to another one whose bucket is full.</summary>
    public void OnDisplaced(PartitionBlock* partition, in EntryView entry, bool wasRead)
    {
        if (entry.HasDeadline && HasExpired(partition, entry))
        {
            OnExpired(partition, entry, wasRead);
        }
        else if (!EntryLedger.IsCleared(memory, partition, entry.Version, entry.Collection))
        {
            OnEvicted(partition, entry, wasRead);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool HasExpired(PartitionBlock* partition, in EntryView entry) =>
        entry.Deadline <= clock.NowMs() && !EntryLedger.IsCleared(memory, partition, entry.Version, entry.Collection);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Report(in EntryView entry, EntryDeparture departure)
    {
        if (_observer is { } observer && entry.Type is EntryType.Value or EntryType.Hash)
        {
            observer.OnDeparted(new ReadOnlySpan<byte>(entry.Key, entry.KeyLength), entry.Collection, departure);
        }
    }
}
