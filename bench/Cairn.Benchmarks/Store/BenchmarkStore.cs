namespace Cairn.Benchmarks.Store;

/// <summary>Stores for benchmarks: a file of their own, large enough that nothing is evicted unless a case wants it.</summary>
internal static class BenchmarkStore
{
    // What an entry takes beside key and value is at most this, by the store's own promise.
    private const int OverheadBytes = 40;

    private const int EntryHeaderBytes = 20;
    private const long CapacityUnit = 8L << 20;

    /// <summary>
    /// Bytes for <paramref name="entries"/> entries and as much again for the copies that sets leave behind. At 100 bytes a value
    /// that is what a dictionary of arrays takes of the heap between collections, or less (docs/benchmarks.md).
    /// </summary>
    public static long CapacityFor(long entries, int keyBytes, int valueBytes)
    {
        var bytes = entries * (keyBytes + valueBytes + OverheadBytes) * 2;
        return (bytes + CapacityUnit - 1) / CapacityUnit * CapacityUnit;
    }

    /// <summary>A new store; an older file of that name is replaced.</summary>
    public static CairnStore Create(string folder, string name, long capacityBytes, int keyBytes, int valueBytes)
    {
        var path = Path.Combine(folder, name + ".cairn");
        File.Delete(path);
        return CairnStore.Open(new StoreOptions
        {
            Path = path,
            CapacityBytes = capacityBytes,
            AverageEntryBytes = Math.Max(StoreOptions.MinAverageEntryBytes, EntryHeaderBytes + keyBytes + valueBytes),
            FlushOnClose = false,
        });
    }

    /// <summary>A new store that holds the first <paramref name="entries"/> keys, each of which was set twice.</summary>
    public static CairnStore CreateUsed(string folder, string name, int entries, int valueBytes)
    {
        var store = Create(folder, name, CapacityFor(entries, Requests.KeyBytes, valueBytes), Requests.KeyBytes, valueBytes);
        var key = new byte[Requests.KeyBytes];
        var value = new byte[valueBytes];
        UsedCache.Fill(entries, number =>
        {
            Requests.WriteKey(number, key);
            Set(store, number, key, value);
        });
        return store;
    }

    /// <summary>Sets <paramref name="count"/> keys from number <paramref name="first"/> on.</summary>
    public static void Load(CairnStore store, int first, int count, int valueBytes)
    {
        Span<byte> key = stackalloc byte[Requests.KeyBytes];
        var value = new byte[valueBytes];
        for (var number = first; number < first + count; number++)
        {
            Requests.WriteKey(number, key);
            Set(store, number, key, value);
        }
    }

    private static void Set(CairnStore store, int number, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (!store.Set(key, value))
        {
            throw new InvalidOperationException($"The store dropped entry {number} while it was loaded.");
        }
    }
}
