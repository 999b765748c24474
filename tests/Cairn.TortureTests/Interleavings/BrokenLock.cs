using Cairn.Concurrency;
using Cairn.Platform;
using Cairn.Steps;
using Cairn.Storage;

namespace Cairn.TortureTests.Interleavings;

/// <summary>The step that a broken lock leaves out.</summary>
internal enum LockDefect
{
    None,

    /// <summary>It acquires a word that it saw free by a plain store.</summary>
    TakesWithoutComparing,

    /// <summary>It takes over a word whose owner it saw dead by a plain store.</summary>
    TakesOverWithoutComparing,

    /// <summary>It compares the owner but not the epoch when it takes over a word.</summary>
    TakesOverWithoutEpoch,

    /// <summary>It sets the waiters bit by a plain store.</summary>
    AnnouncesWithoutComparing,

    /// <summary>It frees the word by a plain store, and wakes only the waiters that had announced themselves before it looked.</summary>
    ReleasesWithoutExchanging,

    /// <summary>It wakes no waiter.</summary>
    ReleasesWithoutWaking,
}

/// <summary>Deliberately broken twins of <see cref="PartitionLock"/>, with the same steps.</summary>
internal sealed unsafe class BrokenLock(OwnerTable owners, StorePlatform platform, LockDefect defect)
{
    private const uint OwnerMask = 0xFF;
    private const uint OneEpoch = 0x100;
    private const uint EpochMask = 0x3FFFFF00;
    private const uint WaitersBit = 1u << 30;

    public void Acquire(PartitionBlock* partition)
    {
        while (true)
        {
            uint word = Volatile.Read(ref partition->LockWord);
            int owner = PartitionLock.OwnerOf(word);
            if (owner == 0)
            {
                ProtocolHook.Reach(ProtocolStep.LockSeenFree);
                if (TryChange(partition, word, Take(word), isPlain: defect == LockDefect.TakesWithoutComparing))
                {
                    ProtocolHook.Reach(ProtocolStep.LockTaken);
                    return;
                }

                continue;
            }

            if (!owners.IsAlive(owner))
            {
                ProtocolHook.Reach(ProtocolStep.LockSeenDead);
                uint now = Volatile.Read(ref partition->LockWord);
                uint expected = defect == LockDefect.TakesOverWithoutEpoch && PartitionLock.OwnerOf(now) == owner ? now : word;
                if (TryChange(partition, expected, Take(expected), isPlain: defect == LockDefect.TakesOverWithoutComparing))
                {
                    ProtocolHook.Reach(ProtocolStep.LockTakenOver);
                    return;
                }

                continue;
            }

            ProtocolHook.Reach(ProtocolStep.LockSeenTaken);
            uint announced = word | WaitersBit;
            if (announced == word || TryChange(partition, word, announced, isPlain: defect == LockDefect.AnnouncesWithoutComparing))
            {
                platform.WaitOnAddress(&partition->LockWord, announced, Timeout.InfiniteTimeSpan);
            }
        }
    }

    public void Release(PartitionBlock* partition)
    {
        uint before = Volatile.Read(ref partition->LockWord);
        ProtocolHook.Reach(ProtocolStep.LockReleasing);
        uint free = before & ~(OwnerMask | WaitersBit);
        if (defect == LockDefect.ReleasesWithoutExchanging)
        {
            Volatile.Write(ref partition->LockWord, free);
        }
        else
        {
            before = Interlocked.Exchange(ref partition->LockWord, free);
        }

        if ((before & WaitersBit) != 0 && defect != LockDefect.ReleasesWithoutWaking)
        {
            platform.WakeByAddress(&partition->LockWord, all: true);
        }
    }

    private static bool TryChange(PartitionBlock* partition, uint expected, uint word, bool isPlain)
    {
        if (!isPlain)
        {
            return Interlocked.CompareExchange(ref partition->LockWord, word, expected) == expected;
        }

        Volatile.Write(ref partition->LockWord, word);
        return true;
    }

    private uint Take(uint word) => (word & WaitersBit) | ((word + OneEpoch) & EpochMask) | (uint)owners.Slot;
}
