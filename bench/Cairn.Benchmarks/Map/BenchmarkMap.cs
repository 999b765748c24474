namespace Cairn.Benchmarks.Map;

/// <summary>Maps of integers, each in a file of its own.</summary>
internal static class BenchmarkMap
{
    // What an entry of two integers takes in the file, and with its share of an index that is three quarters full.
    private const int EntryBytes = 40;
    private const int AverageEntryBytes = 96;
    private const long CapacityUnit = 16L << 20;

    /// <summary>A new map, with room for each entry twice over and more; an older file of that name is replaced.</summary>
    public static PersistentMap<int, int> Create(string folder, string name, int entries, Durability durability)
    {
        var path = Path.Combine(folder, name + ".cairn");
        File.Delete(path);
        var bytes = (long)entries * EntryBytes * 3;
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

    /// <summary>Puts the integers from 0 on to themselves.</summary>
    public static void Fill(PersistentMap<int, int> map, int entries)
    {
        for (var i = 0; i < entries; i++)
        {
            map[i] = i;
        }
    }
}
