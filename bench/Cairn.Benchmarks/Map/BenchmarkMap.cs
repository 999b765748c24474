namespace Cairn.Benchmarks.Map;

/// <summary>Creates maps of integers, each in a file of its own.</summary>
internal static class BenchmarkMap
{
    // The size of an entry of two integers in the file, in bytes. The file has room for three times all entries, because replaced values
    // stay until they are cleaned up. The index is planned for more entries than there are: it is two thirds full.
    private const int EntryBytes = 40;
    private const int Copies = 3;
    private const int AverageEntryBytes = 104;
    private const long CapacityUnit = 1L << 20;

    /// <summary>Creates a map with room for three values of each key. Replaces an older file of that name.</summary>
    public static PersistentMap<int, int> Create(string folder, string name, int entries, Durability durability)
    {
        var path = Path.Combine(folder, name + ".cairn");
        File.Delete(path);
        var bytes = (long)entries * EntryBytes * Copies;
        return PersistentMap.Open(
            new StoreOptions
            {
                Path = path,
                CapacityBytes = (bytes + CapacityUnit - 1) / CapacityUnit * CapacityUnit,
                AverageEntryBytes = AverageEntryBytes,
                FlushOnClose = false,
            },
            new MapOptions<int, int> { Durability = durability });
    }

    /// <summary>Puts each integer from 0 to <paramref name="entries"/> - 1 with itself as value.</summary>
    public static void Fill(PersistentMap<int, int> map, int entries)
    {
        for (var i = 0; i < entries; i++)
        {
            map[i] = i;
        }
    }
}
