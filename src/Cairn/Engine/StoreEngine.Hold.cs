using Cairn.Concurrency;

namespace Cairn.Engine;

// Several partitions held by one thread, so that a group of operations on their keys is atomic for all writers.
//
//   I1  A thread acquires the locks of a hold in ascending order of their numbers and holds no other lock then. So two holds never
//       deadlock.
//   I2  Entering a partition that the thread holds acquires nothing, and leaving it does not release it (Enter, Leave). Only EndHold
//       releases it.
//   I3  If a process dies with a hold, each of its locks is taken over like any other and its partition is recovered. The writes of the
//       group that were done remain.
//
// Readers take no locks, so they can see only a part of the group's writes.
internal sealed unsafe partial class StoreEngine
{
    [ThreadStatic]
    private static PartitionHold? t_hold;

    // The present number of holds of all threads. While it is 0, no thread checks its own hold.
    private int _holds;

    /// <summary>Acquires the locks of several partitions for this thread.</summary>
    /// <param name="hold">Names the partitions. Must not change until <see cref="EndHold(PartitionHold)"/>.</param>
    /// <returns>False, with no lock acquired, if one of the locks was not acquired in time.</returns>
    public bool TryHold(PartitionHold hold)
    {
        ThrowIfClosed();
        if (t_hold is not null)
        {
            throw new InvalidOperationException("This thread holds partitions already."); // I1
        }

        int taken = 0;
        try
        {
            for (int number = hold.Next(0); number >= 0; number = hold.Next(number + 1))
            {
                if (Enter(number) is null)
                {
                    break;
                }

                taken++;
            }
        }
        catch
        {
            Release(hold, taken);
            throw;
        }

        if (taken < hold.Count)
        {
            Release(hold, taken);
            return false;
        }

        Interlocked.Increment(ref _holds);
        hold.Holder = this;
        t_hold = hold;
        return true;
    }

    /// <summary>Releases the locks that <see cref="TryHold"/> acquired, on the same thread. Then waits for the records that were logged meanwhile.</summary>
    public void EndHold(PartitionHold hold) => EndHold(hold, isWhole: true);

    // If an exception may have left the partitions partly changed, they are recovered first.
    private void EndHold(PartitionHold hold, bool isWhole)
    {
        if (!ReferenceEquals(t_hold, hold) || hold.Holder != this)
        {
            throw new InvalidOperationException("This thread does not hold these partitions.");
        }

        t_hold = null;
        hold.Holder = null;
        Interlocked.Decrement(ref _holds);
        for (int number = hold.Next(0); number >= 0 && !isWhole; number = hold.Next(number + 1))
        {
            _recovery.Run(number);
        }

        Release(hold, hold.Count);
        SettleHold(hold);
    }

    private void Release(PartitionHold hold, int count)
    {
        for (int number = hold.Next(0); number >= 0 && count > 0; number = hold.Next(number + 1), count--)
        {
            _lock.Release(Memory.Partition(number));
        }
    }

    private bool IsHeldHere(PartitionBlock* partition)
    {
        PartitionHold? hold = t_hold;
        if (hold is null || hold.Holder != this)
        {
            return false;
        }

        for (int number = hold.Next(0); number >= 0; number = hold.Next(number + 1))
        {
            if (Memory.Partition(number) == partition)
            {
                return true;
            }
        }

        return false;
    }
}
