using Cairn.Concurrency;
using Cairn.Storage;

namespace Cairn.Engine;

// Several partitions held by one thread, so that a group of operations on their keys happens at one moment for all writers.
//
//   I1  A thread takes the locks of a hold in ascending order of their numbers, and holds nothing else then: two holds never wait
//       for each other in a circle.
//   I2  Entering a partition that the thread holds is free, and leaving it does not release it (Enter, Leave); only EndHold does.
//   I3  A process that dies with a hold leaves locks like any others: each is stolen and its partition recovered. What of the
//       group was written stays written.
//
// Readers take no locks, so they may see a part of the group's writes.
internal sealed unsafe partial class StoreEngine
{
    [ThreadStatic]
    private static PartitionHold? t_hold;

    // Holds of all threads now; while there is none, nobody looks at the thread's own.
    private int _holds;

    /// <summary>Takes the locks of several partitions for this thread.</summary>
    /// <param name="hold">Names them; kept until <see cref="EndHold(PartitionHold)"/>.</param>
    /// <returns>False, with none taken, if the lock of one could not be had in time.</returns>
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

    /// <summary>Releases the locks that <see cref="TryHold"/> took, on the same thread, and then waits for what was logged meanwhile.</summary>
    public void EndHold(PartitionHold hold) => EndHold(hold, isWhole: true);

    // If an exception may have left the partitions half changed, they are recovered first.
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
