using Cairn.Collections;
using Cairn.WriteAhead;

namespace Cairn.Engine;

// Opens and creates collections: changes the table under the lock of partition 0 and logs the change.
internal static unsafe class CollectionOpening
{
    /// <summary>Returns the number of a collection. Creates the collection if none has this name.</summary>
    /// <param name="engine">The store's engine.</param>
    /// <param name="name">The collection's name.</param>
    /// <param name="options">The collection's options; null leaves them unchanged.</param>
    /// <param name="cameUnderLog">Whether the collection is logged from now on, but its earlier entries are not in the log. The caller then
    /// writes a snapshot.</param>
    public static uint OpenOrCreate(StoreEngine engine, string name, CollectionOptions? options, out bool cameUnderLog)
    {
        cameUnderLog = false;
        byte[] bytes = CollectionTable.EncodeName(name);
        if (options is null && CollectionTable.Find(engine.Memory, bytes) is { } existing)
        {
            engine.Memory.RefreshRegions();
            return existing;
        }

        uint cleared = 0;
        uint number;
        while (!TryOpenOrCreate(engine, name, bytes, options, cleared, out number, out cameUnderLog))
        {
            // Normally nothing was ever written with the number of a new collection. But if the table was damaged, the store can hold entries
            // of a lost collection, which must not appear in this one.
            engine.Clear(number, isAll: false);
            cleared = number;
        }

        return number;
    }

    /// <summary>Returns false if the collection is new and its number, <paramref name="number"/>, is not the cleared one.</summary>
    private static bool TryOpenOrCreate(
        StoreEngine engine, string name, byte[] bytes, CollectionOptions? options, uint cleared, out uint number, out bool cameUnderLog)
    {
        cameUnderLog = false;
        PartitionBlock* partition = engine.Enter(CollectionTable.LockingPartition);
        if (partition is null)
        {
            throw new StoreException($"The collection '{name}' could not be opened, because a stopped process holds the store's lock. Continue or end it.");
        }

        try
        {
            uint? found = CollectionTable.Find(engine.Memory, bytes);
            int count = CollectionTable.Count(engine.Memory);
            uint free = CollectionTable.FindUnnamed(engine.Memory, count);
            if (found is null && free >= StoreLayout.MaxCollections)
            {
                throw new StoreException(
                    $"The collection '{name}' could not be created: a store has at most {StoreLayout.MaxCollections - 1}. Use a prefix of keys instead.");
            }

            number = found ?? free;
            if (found is null && number != cleared)
            {
                engine.Leave(partition);
                return false;
            }

            CollectionRecord* record = CollectionTable.Record(engine.Memory, number);
            if (found is not null && options is not null && record->Region != options.Region)
            {
                throw new StoreException(
                    $"The collection '{name}' was created with {nameof(CollectionOptions.Region)} {record->Region}, which cannot become " +
                    $"{options.Region}. Open it with {record->Region}, or use another name.");
            }

            CollectionRecord defined = *record;
            if (found is null || options is not null)
            {
                // Without options, a collection that another process has just created keeps its options.
                CollectionTable.Write(&defined, options ?? new CollectionOptions());
            }

            if (found is null)
            {
                defined.NameBytes = (ushort)bytes.Length;
                bytes.CopyTo(new Span<byte>(defined.Name, CollectionRecord.MaxNameBytes));
            }

            bool wasLogged = found is not null && record->IsLogged;
            if (found is not null && defined.IsLogged && !wasLogged)
            {
                // Before the collection counts as logged: a process that sees that it is logged also sees that a snapshot is needed.
                Interlocked.Increment(ref engine.Memory.Super->Log.Wanted);
                cameUnderLog = true;
            }

            Define(engine, partition, number, defined, wasLogged || defined.IsLogged);
            engine.Memory.RefreshRegions();
        }
        catch
        {
            StoreLog.TakeRefusal();
            if (partition->PendingRecord != 0)
            {
                engine.Recovery.Run(CollectionTable.LockingPartition);
            }

            engine.Leave(partition);
            throw;
        }

        engine.Leave(partition);
        engine.Settle(number);
        return true;
    }

    private static void Define(StoreEngine engine, PartitionBlock* partition, uint number, in CollectionRecord defined, bool isLogged)
    {
        CollectionRecord* record = CollectionTable.Record(engine.Memory, number);
        var bytes = MemoryMarshal.AsBytes(new ReadOnlySpan<CollectionRecord>(in defined));
        if (bytes.SequenceEqual(new ReadOnlySpan<byte>(record, StoreLayout.CollectionRecordBytes)))
        {
            return;
        }

        if (isLogged && engine.WriteAhead.IsEnabled)
        {
            engine.LogDefinition(partition, number, bytes);
        }

        CollectionTable.Redefine(engine.Memory, number, bytes);
        Volatile.Write(ref partition->PendingRecord, 0);
    }
}
