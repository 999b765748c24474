namespace Cairn.Benchmarks.Map;

/// <summary>Maps of integers, each in a file of its own.</summary>
internal static class BenchmarkMap
{
    // What an entry of two integers takes in the file. The file has three times that, for the values that were replaced and are not cleaned away yet. The index
    // is made for more entries than there are: it is two thirds full.
    private const int EntryBytes = 40;
    private const int Copies = 3;
    private const int AverageEntryBytes = 104;
    private const long CapacityUnit = 1L << 20;

    /// <summary>A new map, with room for three values of each key; an older file of that name is replaced.</summary>
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

    /// <summary>Puts the integers from 0 on to themselves.</summary>
    public static void Fill(PersistentMap<int, int> map, int entries)
    {
        for (var i = 0; i < entries; i++)
        {
            map[i] = i;
        }
    }
}
