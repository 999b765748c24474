using Cairn.Concurrency;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Steps;
using Cairn.WriteAhead;

namespace Cairn.Engine;

// The additional steps of a write to a logged collection: the record before the publication, and the wait after the lock is released.
//
//   L1  A record is appended only when nothing can decline the write any more: its place in the index exists, and nothing can remove
//       the entry that it depends on. So every record in the log is of a write that happened.
//   L2  No thread waits for the disk while it holds a partition's lock.
//   L3  In a logged collection nothing is retracted without the lock, because the log would have no record of it.
internal sealed unsafe partial class StoreEngine
{
    // The end of the last record that this thread has appended and not waited for.
    [ThreadStatic]
    private static long t_logged;

    // Whether the caller of this thread waits for its records itself.
    [ThreadStatic]
    private static bool t_isDeferring;

    /// <summary>Returns whether writes of a collection are logged.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsLogged(uint collection) =>
        Memory.IsKept(collection) && DurabilityOf(collection) > Durability.ProcessCrash && WriteAhead.IsEnabled;

    /// <summary>Returns whether writes of any collection are logged.</summary>
    public bool IsAnyLogged()
    {
        int count = Math.Clamp(Volatile.Read(ref Memory.Super->CollectionCount), 0, StoreLayout.MaxCollections - 1);
        for (uint collection = 1; collection <= count; collection++)
        {
            if (IsLogged(collection))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Stops this thread's writes from waiting for the disk, until <see cref="EndDeferring"/>.</summary>
    public static void BeginDeferring()
    {
        t_isDeferring = true;
        t_logged = 0;
    }

    /// <summary>Returns the end of the last record, for which the caller must wait; 0 if there was none.</summary>
    public static long EndDeferring()
    {
        t_isDeferring = false;
        return TakeLogged();
    }

    /// <summary>Returns when all writes that logged collections have acknowledged to any caller are durable.</summary>
    public void Flush()
    {
        ThrowIfClosed();
        if (WriteAhead.Exists)
        {
            WriteAhead.Wait(WriteAhead.Tail, isUrgent: true);
        }

        GC.KeepAlive(this);
    }

    public ValueTask FlushAsync(CancellationToken cancellation)
    {
        ThrowIfClosed();
        return WriteAhead.Exists ? WriteAhead.WaitAsync(WriteAhead.Tail, isUrgent: true, cancellation) : ValueTask.CompletedTask;
    }

    /// <summary>Waits like the end of a write to a collection, without blocking a thread. The end is 0 if there is nothing to wait for.</summary>
    public ValueTask WaitAsync(uint collection, long end, CancellationToken cancellation) =>
        end == 0 || CommitsLater(collection) ? ValueTask.CompletedTask : WriteAhead.WaitAsync(end, IsUrgent(collection), cancellation);

    /// <summary>Waits for records of several collections, without blocking a thread. The end is 0 if there is nothing to wait for.</summary>
    public ValueTask WaitAsync(long end, CancellationToken cancellation) =>
        end == 0 ? ValueTask.CompletedTask : WriteAhead.WaitAsync(end, isUrgent: false, cancellation);

    /// <summary>Makes records durable that a dead process left, or that this one has not waited for. Called about once a second.</summary>
    public void CommitRest()
    {
        if (WriteAhead.Exists && WriteAhead.Durable < WriteAhead.Tail)
        {
            WriteAhead.CommitSoon();
        }

        GC.KeepAlive(this);
    }

    /// <summary>Logs a collection's new definition. The caller holds the lock of the partition that guards the table.</summary>
    public void LogDefinition(PartitionBlock* partition, uint collection, ReadOnlySpan<byte> record) =>
        t_logged = WriteAhead.Append(partition, LogKind.CollectionDefined, collection, 0, record);

    /// <summary>Waits for this thread's records, after the thread has left the partitions.</summary>
    public void Settle(uint collection)
    {
        long end = t_logged;
        if (end == 0 || t_isDeferring)
        {
            return;
        }

        t_logged = 0;
        if (_holds != 0 && t_hold is { } hold && hold.Holder == this)
        {
            AddTo(hold, collection, end); // L2: the wait follows when the hold ends.
            return;
        }

        if (!CommitsLater(collection))
        {
            WriteAhead.Wait(end, IsUrgent(collection));
        }

        GC.KeepAlive(this);
    }

    // Returns whether writes of a collection do not wait for the disk. Then their records are made durable soon.
    private bool CommitsLater(uint collection)
    {
        if (DurabilityOf(collection) != Durability.BackgroundCommit)
        {
            return false;
        }

        WriteAhead.CommitSoon();
        return true;
    }

    // If the collection's writes do not wait for the disk, the hold's end does not wait for this record.
    private void AddTo(PartitionHold hold, uint collection, long end)
    {
        if (!CommitsLater(collection))
        {
            hold.Logged = Math.Max(hold.Logged, end);
        }
    }

    // Waits for the records that were written under a hold (L2).
    private void SettleHold(PartitionHold hold)
    {
        long end = hold.Logged;
        hold.Logged = 0;
        if (end == 0)
        {
            return;
        }

        if (t_isDeferring)
        {
            t_logged = Math.Max(t_logged, end);
            return;
        }

        WriteAhead.Wait(end, isUrgent: false);
        GC.KeepAlive(this);
    }

    private static long TakeLogged()
    {
        long end = t_logged;
        t_logged = 0;
        return end;
    }

    private Durability DurabilityOf(uint collection) =>
        (Durability)((CollectionRecord*)Memory.CollectionRecord((int)(collection & (StoreLayout.MaxCollections - 1))))->Durability;

    private bool IsUrgent(uint collection) => DurabilityOf(collection) == Durability.EveryOperation;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private WriteStatus Settled(in KeyRef key, WriteStatus status)
    {
        if (IsLogged(key.Collection))
        {
            Settle(key.Collection);
        }

        return status;
    }

    // A lease is not logged. Its stale value was logged when it was written, or was never there. But a lease that replaces a hash logs
    // the hash's removal.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void LogPut(in WriteOperation write, Bucket* bucket, int slotIndex)
    {
        var entry = new EntryView(write.Target);
        if ((entry.Fields & EntryFields.Lease) == 0)
        {
            t_logged = WriteAhead.Append(
                write.Partition, LogKind.Put, write.Key.Collection, PlaceOf(write.Key, write.Target, bucket, slotIndex),
                new ReadOnlySpan<byte>(write.Target, (int)entry.UnpaddedBytes));
        }
        else if (write.IsFound && write.Old.Entry.Type == EntryType.Hash)
        {
            LogRemove(write.Partition, write.Key);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void LogRemove(PartitionBlock* partition, in KeyRef key) =>
        t_logged = WriteAhead.Append(partition, LogKind.Remove, key.Collection, 0, new ReadOnlySpan<byte>(key.Bytes, key.Length));

    // Returns the place of an entry and its slot, which the redo of the record needs.
    private long PlaceOf(in KeyRef key, byte* target, Bucket* bucket, int slotIndex) =>
        LogPlace.Pack(Memory.OffsetOf(target), LogPlace.ChoiceOf(Memory, key.Place, bucket), slotIndex);

    private static void EndPublication(PartitionBlock* partition)
    {
        // Release: the slot is stored before this. Only the lock's holder reads it, or a process that takes over the lock after this one died.
        Volatile.Write(ref partition->PendingRecord, 0);
        ProtocolHook.Reach(ProtocolStep.LogPendingCleared);
    }

    // Writes one record and holds all partitions together. With separate clears, the log could record more than has happened.
    private bool ClearLogged(uint collection, bool isAll)
    {
        var hold = new PartitionHold(Memory.PartitionCount);
        hold.AddAll();
        if (!TryHold(hold))
        {
            return false;
        }

        bool isWhole = false;
        try
        {
            long end = WriteAhead.Append(hold, LogKind.Clear, isAll ? LogRecord.AllCollections : collection, []);
            for (int number = 0; number < Memory.PartitionCount; number++)
            {
                ClearLocked(Memory.Partition(number), number, collection, isAll);
            }

            WriteAhead.ClearPending(hold);
            if (isAll)
            {
                hold.Logged = end;
            }
            else
            {
                AddTo(hold, collection, end);
            }

            isWhole = true;
        }
        finally
        {
            EndHold(hold, isWhole || StoreLog.TakeRefusal());
        }

        GC.KeepAlive(this);
        return true;
    }
}
