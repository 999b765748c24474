using Cairn.Platform;
using Cairn.Steps;

namespace Cairn.Concurrency;

/// <summary>The result of an attempt to acquire a partition's lock.</summary>
internal enum LockOutcome
{
    TimedOut,
    Taken,

    /// <summary>Taken over from a dead owner. The partition must be recovered before any other use.</summary>
    TakenOver,
}

// The lock of a partition: one word in the file, shared by threads and processes. The log has two such words (Storage.LogBlock).
//
//   bits  0..7   owner slot, 0 when free
//         8..29  epoch, raised by every acquisition, so that a compare-and-swap that expects an earlier owner fails
//         30     a thread sleeps on the word
//         31     0
//
//   Free --CAS--> Taken(owner) --exchange--> Free
//                   | owner dead
//                   +--CAS--> Taken(new owner) --recover--> as if taken
//
//   I1  A process writes an owner slot's number into a word only while it holds the slot's kernel lock. If it inherited the
//       slot, it has cleaned up first (OwnerTable).
//   I2  A lock is taken over only after its owner was found dead, and only if the word has not changed since.
//   I3  After a takeover, the new owner recovers the partition before it does anything else. If it dies before that, another
//       process takes over the lock.
//
// The lock of a stopped (not dead) owner cannot be taken over. Waiting threads time out.
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

    /// <summary>Acquires a lock that is not a partition's.</summary>
    public LockOutcome Acquire(uint* lockWord, TimeSpan timeout) =>
        TryTake(lockWord, out _) ? LockOutcome.Taken : AcquireSlow(lockWord, timeout);

    /// <summary>Acquires the lock if it is free and no thread sleeps on it.</summary>
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

        // The compare-and-swap is a full fence: the writes of the last holder are visible after it.
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

        // An exchange, not a store: a waiter can set its bit between the load and the store. A store would lose the bit, and the waiter
        // would sleep too long.
        uint before = Interlocked.Exchange(ref *lockWord, word & ~(OwnerMask | WaitersBit));
        if ((before & WaitersBit) != 0)
        {
            _platform.WakeByAddress(lockWord, all: true);
        }
    }

    /// <summary>
    /// Releases a lock that was acquired after the owner slot was released. No effect if another owner has taken over the lock since.
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

    /// <summary>Takes over a lock of a dead owner whose kernel lock the caller now holds.</summary>
    /// <remarks>
    /// Repeats while the word names the dead owner, because a thread that saw that owner can still announce its sleep in the word. If
    /// this method gave up then, the word would name a slot that is alive again, and the lock would stay locked.
    /// </remarks>
    public bool TryTakeOver(PartitionBlock* partition, int deadSlot) => TryTakeOver(&partition->LockWord, deadSlot);

    public bool TryTakeOver(uint* lockWord, int deadSlot)
    {
        while (true)
        {
            uint word = Volatile.Read(ref *lockWord);
            if (OwnerOf(word) != deadSlot)
            {
                return false;
            }

            ProtocolHook.Reach(ProtocolStep.LockTakingOver);
            if (Interlocked.CompareExchange(ref *lockWord, Take(word, _owners.Slot), word) == word)
            {
                return true;
            }
        }
    }

    private static uint Take(uint word, int owner) =>
        (word & WaitersBit) | ((((word >> EpochShift) + 1) & EpochMask) << EpochShift) | (uint)owner;

    /// <summary>Acquires the lock from its holder: waits for a live owner, takes over from a dead one.</summary>
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
                    ProtocolHook.Reach(ProtocolStep.LockTakenOver);
                    return LockOutcome.TakenOver;
                }

                continue;
            }

            TimeSpan left = timeout - Stopwatch.GetElapsedTime(start);
            if (left <= TimeSpan.Zero)
            {
                return LockOutcome.TimedOut;
            }

            ProtocolHook.Reach(ProtocolStep.LockSeenTaken);

            // Announces the sleep in the word, then sleeps only while the word is unchanged. A release in between changes it.
            uint announced = word | WaitersBit;
            if (announced == word || Interlocked.CompareExchange(ref *lockWord, announced, word) == word)
            {
                // Bounded, because no thread wakes this one when the owner dies.
                _platform.WaitOnAddress(lockWord, announced, left < LongestSleep ? left : LongestSleep);
            }
        }
    }
}
