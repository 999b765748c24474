namespace Cairn.Benchmarks.Store;

/// <summary>Creates stores for benchmarks, each in a file of its own, large enough that nothing is evicted unless a case needs it.</summary>
internal static class BenchmarkStore
{
    // The largest size of an entry, beside its key and value, that the store promises. In bytes.
    private const int OverheadBytes = 40;

    private const int EntryHeaderBytes = 20;
    private const long CapacityUnit = 8L << 20;

    /// <summary>
    /// Returns the bytes for <paramref name="entries"/> entries, and as much again for the old copies that sets leave behind. With values of
    /// 100 bytes that is at most what a dictionary of arrays takes of the heap between collections (docs/benchmarks.md).
    /// </summary>
    public static long CapacityFor(long entries, int keyBytes, int valueBytes)
    {
        var bytes = entries * (keyBytes + valueBytes + OverheadBytes) * 2;
        return (bytes + CapacityUnit - 1) / CapacityUnit * CapacityUnit;
    }

    /// <summary>Creates a store and replaces an older file with this name.</summary>
    public static CairnStore Create(
        string folder, string name, long capacityBytes, int keyBytes, int valueBytes, StoreEncryption? encryption = null)
    {
        var path = Path.Combine(folder, name + ".cairn");
        File.Delete(path);
        return CairnStore.Open(new StoreOptions
        {
            Path = path,
            CapacityBytes = capacityBytes,
            AverageEntryBytes = Math.Max(StoreLimits.MinAverageEntryBytes, EntryHeaderBytes + keyBytes + valueBytes),
            FlushOnClose = false,
            Encryption = encryption,
        });
    }

    /// <summary>Creates a store that holds the first <paramref name="entries"/> keys, each of which was set twice.</summary>
    public static CairnStore CreateUsed(string folder, string name, int entries, int valueBytes, StoreEncryption? encryption = null)
    {
        // An encrypted entry takes 58 bytes more (docs/how-to/encryption.md).
        var storedBytes = valueBytes + (encryption is null ? 0 : 58);
        var store = Create(folder, name, CapacityFor(entries, Requests.KeyBytes, storedBytes), Requests.KeyBytes, storedBytes, encryption);
        var key = new byte[Requests.KeyBytes];
        var value = new byte[valueBytes];
        UsedCache.Fill(entries, number =>
        {
            Requests.WriteKey(number, key);
            Set(store, number, key, value);
        });
        return store;
    }

    /// <summary>Sets <paramref name="count"/> keys, from number <paramref name="first"/>.</summary>
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
        if (!store.DefaultCollection.Set(key, value))
        {
            throw new InvalidOperationException($"The store dropped entry {number} while it was loaded.");
        }
    }
}
