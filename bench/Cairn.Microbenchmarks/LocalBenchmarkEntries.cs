using System.Globalization;
using Cairn.Caching.Local;

namespace Cairn.Microbenchmarks;

/// <summary>Entries with keys of 20 characters and random hashes, for benchmarks of the first level.</summary>
internal static class LocalBenchmarkEntries
{
    public static LocalEntry[] Make(int count)
    {
        var random = new Random(1);
        var entries = new LocalEntry[count];
        for (var i = 0; i < count; i++)
        {
            var key = string.Create(CultureInfo.InvariantCulture, $"book:{i:D15}");
            entries[i] = new LocalEntry(key, (ulong)random.NextInt64(long.MinValue, long.MaxValue)) { Bytes = 100 };
        }

        random.Shuffle(entries);
        return entries;
    }

    /// <summary>Creates another entry with the same key.</summary>
    public static LocalEntry Copy(LocalEntry entry) => new(entry.Key, entry.Hash) { Bytes = entry.Bytes };
}
