using Cairn.Platform;

namespace Cairn.Leasing;

// Wakes the threads that wait for a lease. A lease is an entry, so it ends when its entry is replaced, removed, cleared or evicted. A
// thread that retracts an entry with a lease raises the partition's signal word and wakes the threads that sleep on it. No thread wakes
// them when the owner of a lease dies, so they regularly check whether it is alive.
//
//   31                    1         0
//   | count of raises     | asleep  |
//
//   I1  Before a thread sleeps, one compare-and-swap checks that the word was not raised since the thread read it, and sets the
//       asleep bit. A thread that raises the word clears the bit in the same step, and wakes all sleepers if the bit was set. So
//       either the sleeper's step fails, or the raising thread finds the bit. If no thread sleeps, which is nearly always the
//       case, no call of the kernel is made.
//
// A sleeper whose time-out has passed, or that is killed, leaves the bit set. The next raise then makes one unnecessary call and clears it.
internal sealed unsafe class LeaseSignal(StorePlatform platform)
{
    private const uint Asleep = 1;
    private const uint Step = 2;

    /// <summary>Returns the signal to sleep on. Acquire: the entry must be read after it, not before.</summary>
    public static uint Read(PartitionBlock* partition) => Volatile.Read(ref partition->LeaseSignal) & ~Asleep;

    /// <summary>Makes threads that are about to sleep check again, but wakes none.</summary>
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

    /// <summary>Sleeps until the signal is no longer <paramref name="seen"/>, or until the time-out has passed.</summary>
    public void Wait(PartitionBlock* partition, uint seen, TimeSpan timeout)
    {
        // I1. Another sleeper may have already set the bit.
        uint found = Interlocked.CompareExchange(ref partition->LeaseSignal, seen | Asleep, seen);
        if ((found & ~Asleep) == seen)
        {
            platform.WaitOnAddress(&partition->LeaseSignal, seen | Asleep, timeout);
        }
    }
}
