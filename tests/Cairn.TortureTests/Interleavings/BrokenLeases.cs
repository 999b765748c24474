using Cairn.Engine;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Leasing;
using Cairn.Storage;

namespace Cairn.TortureTests.Interleavings;

/// <summary>Deliberately broken twins of a lease holder's routines, and of waiting for a lease (StoreEngine.AcquireLease).</summary>
internal static unsafe class BrokenLeases
{
    private static readonly TimeSpan Duration = StoreLease.Duration;

    /// <summary>
    /// Waits for a lease. Either reads the signal after it has seen that another caller has the lease, instead of before, or sleeps without
    /// announcing it.
    /// </summary>
    public static LeaseStatus Acquire(StoreEngine engine, in KeyRef key, bool isLate, bool isSilent)
    {
        var signals = new LeaseSignal(ScheduledPlatform.Instance);
        PartitionBlock* partition = engine.Memory.Partition(key.Place.Partition);
        while (true)
        {
            uint signal = LeaseSignal.Read(partition);
            LeaseStatus status = engine.AcquireLease(key, TimeSpan.Zero, Duration, out _);
            if (status != LeaseStatus.Held)
            {
                return status;
            }

            if (isSilent)
            {
                ScheduledPlatform.Instance.WaitOnAddress(&partition->LeaseSignal, signal, Duration);
            }
            else
            {
                signals.Wait(partition, isLate ? LeaseSignal.Read(partition) : signal, Duration);
            }
        }
    }

    /// <summary>Sets a value if the slot names the lease, but does not notice that the lease was retracted since that check.</summary>
    public static bool TrySet(StoreEngine engine, in KeyRef key, ReadOnlySpan<byte> value, bool isPlain)
    {
        PartitionBlock* partition = engine.Enter(key.Place.Partition);
        bool isSet = HashIndex.FindLocked(engine.Memory, key.Place, key.Bytes, key.Length, key.Collection, out Located old)
            && (old.Entry.Fields & EntryFields.Lease) != 0
            && BrokenHolders.TryWrite(engine, partition, key, old, value, default, isPlain);
        engine.Leave(partition);
        return isSet;
    }
}
