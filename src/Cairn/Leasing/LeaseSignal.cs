using Cairn.Platform;
using Cairn.Storage;

namespace Cairn.Leasing;

// Wakes those who wait for a lease. A lease is an entry, so it ends when its entry is replaced, removed, cleared or evicted:
// whoever retracts an entry that carries one raises the partition's signal word and wakes the sleepers on it. Nobody is
// woken when the owner of a lease dies; sleepers look at its life now and then.
internal sealed unsafe class LeaseSignal(StorePlatform platform)
{
    public void OnRetracted(PartitionBlock* partition, in EntryView entry)
    {
        if (entry.Type == EntryType.Lease || (entry.Fields & EntryFields.Lease) != 0)
        {
            Raise(partition);
        }
    }

    public void Raise(PartitionBlock* partition)
    {
        Interlocked.Increment(ref partition->LeaseSignal);
        platform.WakeByAddress(&partition->LeaseSignal, all: true);
    }

    /// <summary>Sleeps until the signal is no longer <paramref name="seen"/>, or until the time is up.</summary>
    public void Wait(PartitionBlock* partition, uint seen, TimeSpan timeout) =>
        platform.WaitOnAddress(&partition->LeaseSignal, seen, timeout);
}
