using Cairn.Platform;
using Cairn.Storage;

namespace Cairn.Leasing;

// Wakes those who wait for a lease. A lease is an entry, so it ends when its entry is replaced, removed, cleared or evicted:
// whoever retracts an entry that carries one raises the partition's signal word and wakes the sleepers on it. Nobody is
// woken when the owner of a lease dies; sleepers look at its life now and then.
//
//   31                    1         0
//   | how often raised    | asleep  |
//
//   I1  Who sleeps has set the asleep bit of the word that he sleeps on, in one step with the look whether it was raised since he
//       read it; who raises takes the bit away in one step with the raising, and wakes all if it was there. So either the sleeper's
//       step fails, or the raiser's finds the bit. Nobody asks the kernel to wake where nobody sleeps, which is nearly always.
//
// A sleeper whose time is up, or who is killed, leaves the bit behind. It costs the next raising one call, and is gone.
internal sealed unsafe class LeaseSignal(StorePlatform platform)
{
    private const uint Asleep = 1;
    private const uint Step = 2;

    /// <summary>What to sleep on: read before the look at the entry. Acquire; the look must not come first.</summary>
    public static uint Read(PartitionBlock* partition) => Volatile.Read(ref partition->LeaseSignal) & ~Asleep;

    /// <summary>Makes who is about to sleep look again, and wakes nobody.</summary>
    public static void RaiseSilently(PartitionBlock* partition) => Interlocked.Add(ref partition->LeaseSignal, Step);

    public void OnRetracted(PartitionBlock* partition, in EntryView entry)
    {
        if (entry.Type == EntryType.Lease || (entry.Fields & EntryFields.Lease) != 0)
        {
            Raise(partition);
        }
    }

    public void Raise(PartitionBlock* partition)
    {
        uint seen;
        do
        {
            seen = Volatile.Read(ref partition->LeaseSignal);
        }
        while (Interlocked.CompareExchange(ref partition->LeaseSignal, (seen & ~Asleep) + Step, seen) != seen);

        if ((seen & Asleep) != 0)
        {
            platform.WakeByAddress(&partition->LeaseSignal, all: true);
        }
    }

    /// <summary>Sleeps until the signal is no longer <paramref name="seen"/>, or until the time is up.</summary>
    public void Wait(PartitionBlock* partition, uint seen, TimeSpan timeout)
    {
        // I1. Another sleeper may have set the bit before.
        uint found = Interlocked.CompareExchange(ref partition->LeaseSignal, seen | Asleep, seen);
        if ((found & ~Asleep) == seen)
        {
            platform.WaitOnAddress(&partition->LeaseSignal, seen | Asleep, timeout);
        }
    }
}
