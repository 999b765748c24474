using Cairn.Engine;

namespace Cairn.Caching.Levels;

// Clears the level's collections. A part of this may have to wait: the watermark of a partition can be raised only under the partition's
// lock, which a stopped process may hold.
//
//   I1  A partition whose bit is set must still be cleared. Until then it is neither read nor written.
//   I2  Bits are set and cleared under the gate, together with the attempt to clear the partition: the success of an attempt never resets
//       the bit of a later clearing.
//
// A value that another process wrote between the clearing and its retry is removed as well: one miss more, but no cleared value survives.
internal sealed class StoreLevelClearing : IDisposable
{
    private static readonly TimeSpan RetryInterval = TimeSpan.FromMilliseconds(100);

    // Short, because an operation may be waiting for the retry.
    private static readonly TimeSpan RetryLockTimeout = TimeSpan.FromMilliseconds(5);

    private readonly StoreEngine _engine;
    private readonly uint[] _collections;
    private readonly TimeSpan _lockTimeout;
    private readonly Lock _gate = new();
    private readonly Timer _timer;
    private ulong _pending;

    public StoreLevelClearing(CairnStore store, params CairnCollection[] collections)
    {
        _engine = store.Engine;
        _collections = [.. collections.Select(collection => collection.Number)];
        _lockTimeout = store.Options.LockTimeout;
        _timer = new Timer(static state => ((StoreLevelClearing)state!).Retry(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Clears all partitions. Returns false if some must wait; they are cleared later.</summary>
    /// <exception cref="ObjectDisposedException">The store was closed.</exception>
    public bool Clear()
    {
        lock (_gate)
        {
            ulong pending = 0;
            for (int partition = 0; partition < _engine.Memory.PartitionCount; partition++)
            {
                pending |= TryClear(partition, _lockTimeout) ? 0 : 1UL << partition;
            }

            // Release; pairs with IsPending. A reader that does not see it precedes the return of the clearing.
            Volatile.Write(ref _pending, pending);
            if (pending != 0)
            {
                _timer.Change(RetryInterval, Timeout.InfiniteTimeSpan);
            }

            return pending == 0;
        }
    }

    /// <summary>Returns whether the partition of the hash must still be cleared.</summary>
    public bool IsPending(ulong hash) =>
        Volatile.Read(ref _pending) is var pending && pending != 0 && (pending & BitOf(hash)) != 0;

    /// <summary>Clears the partition of the hash if it is pending. Returns true if it need not be cleared any more.</summary>
    /// <exception cref="ObjectDisposedException">The store was closed.</exception>
    public bool TryFinish(ulong hash)
    {
        if (!IsPending(hash))
        {
            return true;
        }

        lock (_gate)
        {
            Finish(BitOf(hash));
            return !IsPending(hash);
        }
    }

    /// <summary>Makes one last attempt to clear the pending partitions.</summary>
    public void Dispose()
    {
        _timer.Dispose();
        Retry();
    }

    private ulong BitOf(ulong hash) => 1UL << _engine.Memory.Place(hash).Partition;

    private void Retry()
    {
        lock (_gate)
        {
            try
            {
                Finish(ulong.MaxValue);
            }
            catch (ObjectDisposedException)
            {
                return; // The store was closed. The next process that opens it reads the entries that were not cleared, as after a crash.
            }
            catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
            {
                _engine.Failures.Report("Clearing the store", failure.Message);
            }

            if (_pending != 0)
            {
                _timer.Change(RetryInterval, Timeout.InfiniteTimeSpan); // No effect after Dispose.
            }
        }
    }

    // Clears the pending partitions that are in the set, under the gate (I2).
    private void Finish(ulong set)
    {
        for (int partition = 0; partition < _engine.Memory.PartitionCount; partition++)
        {
            ulong bit = 1UL << partition;
            if ((_pending & set & bit) != 0 && TryClear(partition, RetryLockTimeout))
            {
                Volatile.Write(ref _pending, _pending & ~bit);
            }
        }
    }

    private bool TryClear(int partition, TimeSpan lockTimeout)
    {
        foreach (uint collection in _collections)
        {
            if (!_engine.ClearPartition(partition, collection, isAll: false, lockTimeout))
            {
                return false;
            }
        }

        return true;
    }
}
