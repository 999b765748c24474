using System.Diagnostics;
using System.Runtime.CompilerServices;
using Cairn.Platform;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.Concurrency;

/// <summary>How an attempt to take a partition's lock ended.</summary>
internal enum LockOutcome
{
    TimedOut,
    Taken,

    /// <summary>Taken from a dead owner: the partition must be recovered before anything else is done with it.</summary>
    Stolen,
}

// The lock of a partition: one word in the file, shared by threads and processes. The log has two of the same kind (Storage.LogBlock).
//
//   bits  0..7   owner slot, 0 when free
//         8..29  epoch, raised by every taking, so that a compare-and-swap by who saw an earlier owner fails
//         30     somebody sleeps on the word
//         31     0
//
//   Free --CAS--> Taken(owner) --exchange--> Free
//                   | owner dead
//                   +--CAS--> Taken(thief) --recover--> as if taken
//
//   I1  Only the process that holds the kernel lock of an owner slot, or inherited it and cleaned up (OwnerTable), writes
//       that slot's number into a word.
//   I2  A word is stolen only after its owner was seen dead, and only if it has not changed since.
//   I3  A thief recovers the partition before it does anything else; dying in between leaves the word to the next thief.
//
// A stopped (not dead) owner cannot be stolen from; whoever waits gives up at its deadline.
internal sealed unsafe class PartitionLock
{
    private const uint OwnerMask = 0xFF;
    private const int EpochShift = 8;
    private const uint EpochMask = 0x3FFFFF;
    private const uint WaitersBit = 1u << 30;

    private const int SpinRounds = 60;
    private static readonly TimeSpan LongestSleep = TimeSpan.FromMilliseconds(5);

    private readonly OwnerTable _owners;
    private readonly StorePlatform _platform;

    public PartitionLock(OwnerTable owners, StorePlatform platform)
    {
        _owners = owners;
        _platform = platform;
    }

    public static int OwnerOf(uint word) => (int)(word & OwnerMask);

    public LockOutcome Acquire(PartitionBlock* partition, TimeSpan timeout) =>
        TryTake(partition, out _) ? LockOutcome.Taken : AcquireSlow(partition, timeout);

    /// <summary>The same for a lock that is not a partition's.</summary>
    public LockOutcome Acquire(uint* lockWord, TimeSpan timeout) =>
        TryTake(lockWord, out _) ? LockOutcome.Taken : AcquireSlow(lockWord, timeout);

    /// <summary>Takes the lock if it is free and nobody sleeps on it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryTake(PartitionBlock* partition, out uint taken) => TryTake(&partition->LockWord, out taken);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryTake(uint* lockWord, out uint taken)
    {
        uint word = *lockWord;
        taken = Take(word, _owners.Slot);

        if ((word & (OwnerMask | WaitersBit)) != 0)
        {
            return false;
        }

        // The compare-and-swap is a full fence: what the last holder wrote is visible after it.
        ProtocolHook.Reach(ProtocolStep.LockSeenFree);
        if (Interlocked.CompareExchange(ref *lockWord, taken, word) != word)
        {
            return false;
        }

        ProtocolHook.Reach(ProtocolStep.LockTaken);
        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Release(PartitionBlock* partition) => Release(&partition->LockWord);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Release(uint* lockWord)
    {
        uint word = *lockWord;
        ProtocolHook.Reach(ProtocolStep.LockReleasing);

        // An exchange, not a store: a waiter may set its bit between the load and the store, and would sleep for long.
        uint before = Interlocked.Exchange(ref *lockWord, word & ~(OwnerMask | WaitersBit));
        if ((before & WaitersBit) != 0)
        {
            _platform.WakeByAddress(lockWord, all: true);
        }
    }

    /// <summary>
    /// Releases a lock that was taken when the owner slot was given away already, unless somebody has stolen it since: then it is
    /// the thief's.
    /// </summary>
    public void Undo(PartitionBlock* partition, uint taken)
    {
        uint word;
        while (((word = Volatile.Read(ref partition->LockWord)) & ~WaitersBit) == (taken & ~WaitersBit))
        {
            if (Interlocked.CompareExchange(ref partition->LockWord, word & ~(OwnerMask | WaitersBit), word) == word)
            {
                _platform.WakeByAddress(&partition->LockWord, all: true);
                return;
            }
        }
    }

    /// <summary>Takes over a word that a dead owner, whose kernel lock the caller now holds, left behind.</summary>
    /// <remarks>
    /// Repeats while the word names the dead owner: somebody who had seen it there may still announce its sleep, and a word that
    /// was given up then would name a slot that is alive again, and be locked for ever.
    /// </remarks>
    public bool TrySeize(PartitionBlock* partition, int deadSlot) => TrySeize(&partition->LockWord, deadSlot);

    public bool TrySeize(uint* lockWord, int deadSlot)
    {
        while (true)
        {
            uint word = Volatile.Read(ref *lockWord);
            if (OwnerOf(word) != deadSlot)
            {
                return false;
            }

            ProtocolHook.Reach(ProtocolStep.LockSeizing);
            if (Interlocked.CompareExchange(ref *lockWord, Take(word, _owners.Slot), word) == word)
            {
                return true;
            }
        }
    }

    private static uint Take(uint word, int owner) =>
        (word & WaitersBit) | ((((word >> EpochShift) + 1) & EpochMask) << EpochShift) | (uint)owner;

    /// <summary>Takes the lock from whoever has it: waits for the living, steals from the dead.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public LockOutcome AcquireSlow(PartitionBlock* partition, TimeSpan timeout)
    {
        Interlocked.Increment(ref partition->LockWaits);
        return AcquireSlow(&partition->LockWord, timeout);
    }

    private LockOutcome AcquireSlow(uint* lockWord, TimeSpan timeout)
    {
        long start = Stopwatch.GetTimestamp();
        int round = 0;
        while (true)
        {
            uint word = Volatile.Read(ref *lockWord);
            int owner = OwnerOf(word);
            if (owner == 0)
            {
                ProtocolHook.Reach(ProtocolStep.LockSeenFree);
                if (Interlocked.CompareExchange(ref *lockWord, Take(word, _owners.Slot), word) == word)
                {
                    ProtocolHook.Reach(ProtocolStep.LockTaken);
                    return LockOutcome.Taken;
                }

                continue;
            }

            if (round++ < SpinRounds && timeout != TimeSpan.Zero)
            {
                Thread.SpinWait(20);
                continue;
            }

            if (!_owners.IsAlive(owner))
            {
                ProtocolHook.Reach(ProtocolStep.LockSeenDead);
                if (Interlocked.CompareExchange(ref *lockWord, Take(word, _owners.Slot), word) == word)
                {
                    ProtocolHook.Reach(ProtocolStep.LockStolen);
                    return LockOutcome.Stolen;
                }

                continue;
            }

            TimeSpan left = timeout - Stopwatch.GetElapsedTime(start);
            if (left <= TimeSpan.Zero)
            {
                return LockOutcome.TimedOut;
            }

            ProtocolHook.Reach(ProtocolStep.LockSeenTaken);

            // Announce the sleep in the word, then sleep only while the word says so: a release in between changes it.
            uint announced = word | WaitersBit;
            if (announced == word || Interlocked.CompareExchange(ref *lockWord, announced, word) == word)
            {
                // Bounded, because nobody wakes us when the owner dies.
                _platform.WaitOnAddress(lockWord, announced, left < LongestSleep ? left : LongestSleep);
            }
        }
    }
}
