using System.Runtime.InteropServices;
using System.Text;
using Cairn.Engine;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Collections;

// The named collections of a store: a table in the file that only grows, changed under the lock of partition 0.
internal static unsafe class CollectionTable
{
    /// <summary>The partition whose lock guards the table.</summary>
    public const int LockingPartition = 0;

    /// <summary>The number of a collection, which is created if there is none of that name.</summary>
    /// <param name="engine">Of the store.</param>
    /// <param name="name">The collection's.</param>
    /// <param name="options">What it is to be; null to leave it as it is.</param>
    /// <param name="cameUnderLog">Whether what it held before is not in the log, and from now on should be: the caller sees to a snapshot.</param>
    public static uint OpenOrCreate(StoreEngine engine, string name, CollectionOptions? options, out bool cameUnderLog)
    {
        cameUnderLog = false;
        byte[] bytes;
        try
        {
            bytes = new UTF8Encoding(false, throwOnInvalidBytes: true).GetBytes(name);
        }
        catch (EncoderFallbackException failure)
        {
            throw new ArgumentException("A collection's name must be valid text, without half of a surrogate pair.", nameof(name), failure);
        }

        if (bytes.Length > CollectionRecord.MaxNameBytes)
        {
            throw new ArgumentException(
                $"A collection's name has at most {CollectionRecord.MaxNameBytes} bytes in UTF-8; '{name}' has {bytes.Length}.", nameof(name));
        }

        if (options is null && Find(engine.Memory, bytes) is { } existing)
        {
            engine.Memory.RefreshRegions();
            return existing;
        }

        uint cleared = 0;
        uint number;
        while (!TryOpenOrCreate(engine, name, bytes, options, cleared, out number, out cameUnderLog))
        {
            // Nothing was ever written with the number of a new collection, unless the table was damaged: then the entries of
            // a forgotten collection must not turn up in this one.
            engine.Clear(number, isAll: false);
            cleared = number;
        }

        return number;
    }

    /// <summary>
    /// Lets a table that counts more collections than have a name count fewer, while nobody else has the store open: a count that is too high
    /// would leave no room for others.
    /// </summary>
    public static void DropUnnamed(StoreMemory memory)
    {
        int count = Count(memory);
        while (count > 0 && Record(memory, (uint)count)->NameBytes == 0)
        {
            count--;
        }

        memory.Super->CollectionCount = count;
    }

    public static IReadOnlyList<string> Names(StoreMemory memory) => [.. NamesByNumber(memory).Skip(1)];

    /// <summary>Names by collection number; the first is the store's own, which is empty.</summary>
    public static IReadOnlyList<string> NamesByNumber(StoreMemory memory) =>
        [string.Empty, .. Enumerable.Range(1, Count(memory)).Select(number => NameOf(memory, (uint)number))];

    public static IReadOnlyList<CollectionStatistics> Statistics(StoreMemory memory) =>
        [.. Enumerable.Range(1, Count(memory)).Select(number => StatisticsOf(memory, (uint)number))];

    private static CollectionStatistics StatisticsOf(StoreMemory memory, uint number)
    {
        long entries = 0;
        long bytes = 0;
        for (int partition = 0; partition < memory.PartitionCount; partition++)
        {
            long* counters = PartitionBlock.CollectionCounters(memory.Partition(partition), number);
            entries += counters[0];
            bytes += counters[1];
        }

        return new CollectionStatistics(NameOf(memory, number), entries, bytes, Record(memory, number)->BudgetBytes, memory.RegionOf(number));
    }

    /// <summary>False if the collection is new and its number, <paramref name="number"/>, is not the cleared one.</summary>
    private static bool TryOpenOrCreate(
        StoreEngine engine, string name, byte[] bytes, CollectionOptions? options, uint cleared, out uint number, out bool cameUnderLog)
    {
        cameUnderLog = false;
        PartitionBlock* partition = engine.Enter(LockingPartition);
        if (partition is null)
        {
            throw new StoreException($"The collection '{name}' could not be opened, because a stopped process holds the store's lock. Continue or end it.");
        }

        try
        {
            uint? found = Find(engine.Memory, bytes);
            int count = Count(engine.Memory);
            uint free = FindUnnamed(engine.Memory, count);
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

            CollectionRecord* record = Record(engine.Memory, number);
            if (found is not null && options is not null && record->Region != options.Region)
            {
                throw new StoreException(
                    $"The collection '{name}' was created with {nameof(CollectionOptions.Region)} {record->Region}, which cannot become " +
                    $"{options.Region}. Open it with {record->Region}, or use another name.");
            }

            CollectionRecord defined = *record;
            if (found is null || options is not null)
            {
                // Without options, one that another process has just created keeps its own.
                Write(&defined, options ?? new CollectionOptions());
            }

            if (found is null)
            {
                defined.NameBytes = (ushort)bytes.Length;
                bytes.CopyTo(new Span<byte>(defined.Name, CollectionRecord.MaxNameBytes));
            }

            bool wasLogged = found is not null && record->IsLogged;
            if (found is not null && defined.IsLogged && !wasLogged)
            {
                // Before it counts: whoever sees that it is logged sees that a snapshot is wanted, too.
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
                engine.Recovery.Run(LockingPartition);
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
        CollectionRecord* record = Record(engine.Memory, number);
        var bytes = MemoryMarshal.AsBytes(new ReadOnlySpan<CollectionRecord>(in defined));
        if (bytes.SequenceEqual(new ReadOnlySpan<byte>(record, StoreLayout.CollectionRecordBytes)))
        {
            return;
        }

        if (isLogged && engine.WriteAhead.IsEnabled)
        {
            engine.LogDefinition(partition, number, bytes);
        }

        Redefine(engine.Memory, number, bytes);
        Volatile.Write(ref partition->PendingRecord, 0);
    }

    /// <summary>Makes a record of the table what it is said to be, and counts it.</summary>
    public static void Redefine(StoreMemory memory, uint number, ReadOnlySpan<byte> bytes)
    {
        if (number is 0 or >= StoreLayout.MaxCollections || bytes.Length != StoreLayout.CollectionRecordBytes)
        {
            return;
        }

        bytes.CopyTo(new Span<byte>(Record(memory, number), StoreLayout.CollectionRecordBytes));

        // Release: the record is complete before it is counted (CollectionRecord I1).
        Volatile.Write(ref memory.Super->CollectionCount, Math.Max(Count(memory), (int)number));
    }

    // The number after the last, or of a record that counts but has no name: damage made it so.
    private static uint FindUnnamed(StoreMemory memory, int count)
    {
        uint number = 1;
        while (number <= count && Record(memory, number)->NameBytes != 0)
        {
            number++;
        }

        return number;
    }

    private static uint? Find(StoreMemory memory, ReadOnlySpan<byte> name)
    {
        int count = Count(memory);
        for (uint number = 1; number <= count; number++)
        {
            if (NameBytes(memory, number).SequenceEqual(name))
            {
                return number;
            }
        }

        return null;
    }

    private static void Write(CollectionRecord* record, CollectionOptions options)
    {
        Expiration expiration = options.DefaultExpiration;
        record->ExpirationKind = expiration.Kind switch
        {
            Expiration.ExpirationKind.Relative => CollectionRecord.ExpirationRelative,
            Expiration.ExpirationKind.Sliding => CollectionRecord.ExpirationSliding,
            _ => 0,
        };
        record->ExpirationMs = expiration.Milliseconds;
        record->BudgetBytes = options.BudgetBytes;
        record->Region = options.Region;
        record->Durability = (byte)options.ResolvedDurability;
    }

    // Acquire; pairs with the release in OpenOrCreate.
    private static int Count(StoreMemory memory) =>
        Math.Clamp(Volatile.Read(ref memory.Super->CollectionCount), 0, StoreLayout.MaxCollections - 1);

    // Copied first: decoding counts the characters before it writes them, and somebody may be scribbling over the name in between.
    public static string NameOf(StoreMemory memory, uint number)
    {
        ReadOnlySpan<byte> name = NameBytes(memory, number);
        Span<byte> copy = stackalloc byte[CollectionRecord.MaxNameBytes];
        name.CopyTo(copy);
        return Encoding.UTF8.GetString(copy[..name.Length]);
    }

    private static ReadOnlySpan<byte> NameBytes(StoreMemory memory, uint number)
    {
        CollectionRecord* record = Record(memory, number);
        return new ReadOnlySpan<byte>(record->Name, Math.Min((int)record->NameBytes, CollectionRecord.MaxNameBytes));
    }

    private static CollectionRecord* Record(StoreMemory memory, uint number) => (CollectionRecord*)memory.CollectionRecord((int)number);
}
