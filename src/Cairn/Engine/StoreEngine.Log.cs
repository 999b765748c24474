using System.Runtime.CompilerServices;
using Cairn.Concurrency;
using Cairn.Indexing;
using Cairn.Keys;
using Cairn.Steps;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Engine;

// What writing does beyond the map where a collection is logged: the record before the publication, and the wait after the lock.
//
//   L1  A record is appended when nothing can decline the write any more: its place in the index is there, and what it rests on cannot go.
//       So what the log says has happened.
//   L2  Nobody waits for the disk with a partition's lock.
//   L3  In a logged collection nothing is retracted without the lock: there would be no record of it.
internal sealed unsafe partial class StoreEngine
{
    // The end of the last record that this thread appended and has not waited for.
    [ThreadStatic]
    private static long t_logged;

    // Whether this thread's caller waits by other means.
    [ThreadStatic]
    private static bool t_isDeferring;

    /// <summary>Whether writes of a collection are in the log.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsLogged(uint collection) =>
        Memory.IsKept(collection) && DurabilityOf(collection) > Durability.ProcessCrash && WriteAhead.IsEnabled;

    /// <summary>Whether any collection's writes are in the log.</summary>
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

    /// <summary>From here on, what this thread writes is not waited for, until <see cref="EndDeferring"/>.</summary>
    public static void BeginDeferring()
    {
        t_isDeferring = true;
        t_logged = 0;
    }

    /// <summary>What to wait for instead: the end of the last record, 0 if there was none.</summary>
    public static long EndDeferring()
    {
        t_isDeferring = false;
        return TakeLogged();
    }

    /// <summary>Returns when everything that logged collections have acknowledged, to anybody, is on the disk.</summary>
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

    /// <summary>As the wait at the end of a write to a collection, without a thread.</summary>
    public ValueTask WaitAsync(uint collection, long end, CancellationToken cancellation) =>
        end == 0 ? ValueTask.CompletedTask : WriteAhead.WaitAsync(end, IsUrgent(collection), cancellation);

    /// <summary>Says, in the log, that a collection is as its record will say. Under the lock of the partition that guards the table.</summary>
    public void LogDefinition(PartitionBlock* partition, uint collection, ReadOnlySpan<byte> record) =>
        t_logged = WriteAhead.Append(partition, LogKind.CollectionDefined, collection, 0, record);

    /// <summary>Waits for what this thread has logged, after it left the partitions.</summary>
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
            hold.Logged = Math.Max(hold.Logged, end); // L2: once the hold ends.
            return;
        }

        WriteAhead.Wait(end, IsUrgent(collection));
        GC.KeepAlive(this);
    }

    // What was written under a hold: L2.
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

    // A lease is nobody's value: what it stands in for was logged when it was written, or was not there. But a hash gives way to it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void LogPut(
        PartitionBlock* partition, in KeyRef key, byte* target, bool isFound, in Located old, Bucket* bucket, int slotIndex)
    {
        var entry = new EntryView(target);
        if ((entry.Fields & EntryFields.Lease) == 0)
        {
            t_logged = WriteAhead.Append(
                partition, LogKind.Put, key.Collection, PlaceOf(key, target, bucket, slotIndex), new ReadOnlySpan<byte>(target, (int)entry.UnpaddedBytes));
        }
        else if (isFound && old.Entry.Type == EntryType.Hash)
        {
            LogRemove(partition, key);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void LogRemove(PartitionBlock* partition, in KeyRef key) =>
        t_logged = WriteAhead.Append(partition, LogKind.Remove, key.Collection, 0, new ReadOnlySpan<byte>(key.Bytes, key.Length));

    // Where an entry lies and which slot will name it, for who must do it again.
    private long PlaceOf(in KeyRef key, byte* target, Bucket* bucket, int slotIndex) =>
        LogPlace.Pack(Memory.OffsetOf(target), LogPlace.ChoiceOf(Memory, key.Place, bucket), slotIndex);

    private static void EndPublication(PartitionBlock* partition)
    {
        // Release: the slot is stored before. Only who holds the lock reads it, or steals it after this process died.
        Volatile.Write(ref partition->PendingRecord, 0);
        ProtocolHook.Reach(ProtocolStep.LogPendingCleared);
    }

    // One record, and all partitions at one moment for all writers: each by itself would leave a log that says more than happened.
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
            hold.Logged = end;
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
