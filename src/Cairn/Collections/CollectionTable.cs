namespace Cairn.Collections;

// The named collections of a store: a table in the file that only grows. It is changed under the lock of partition 0.
internal static unsafe class CollectionTable
{
    /// <summary>The partition whose lock guards the table.</summary>
    public const int LockingPartition = 0;

    /// <summary>Returns the name as the table stores it.</summary>
    /// <exception cref="ArgumentException">The name is not valid for a collection.</exception>
    public static byte[] EncodeName(string name)
    {
        byte[] bytes;
        try
        {
            bytes = new UTF8Encoding(false, throwOnInvalidBytes: true).GetBytes(name);
        }
        catch (EncoderFallbackException failure)
        {
            throw new ArgumentException("A collection's name must be valid text, without half of a surrogate pair.", nameof(name), failure);
        }

        return bytes.Length <= CollectionRecord.MaxNameBytes ? bytes : throw new ArgumentException(
            $"A collection's name has at most {CollectionRecord.MaxNameBytes} bytes in UTF-8; '{name}' has {bytes.Length}.", nameof(name));
    }

    /// <summary>
    /// Removes trailing records without a name from the table's count, while no other process has the store open. With a count that is too high,
    /// there would be no room for new collections.
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

    /// <summary>Returns the names by collection number. The first is the name of the default collection, which is empty.</summary>
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

    /// <summary>Overwrites a record of the table and counts it.</summary>
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

    // Returns the number after the last one, or that of a counted record without a name, which only damage causes.
    public static uint FindUnnamed(StoreMemory memory, int count)
    {
        uint number = 1;
        while (number <= count && Record(memory, number)->NameBytes != 0)
        {
            number++;
        }

        return number;
    }

    public static uint? Find(StoreMemory memory, ReadOnlySpan<byte> name)
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

    public static void Write(CollectionRecord* record, CollectionOptions options)
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

    // Acquire; pairs with the release in Redefine.
    public static int Count(StoreMemory memory) =>
        Math.Clamp(Volatile.Read(ref memory.Super->CollectionCount), 0, StoreLayout.MaxCollections - 1);

    // Copied first: decoding counts the characters before it writes them, and another process could overwrite the name in between.
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

    public static CollectionRecord* Record(StoreMemory memory, uint number) => (CollectionRecord*)memory.CollectionRecord((int)number);
}
