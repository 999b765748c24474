using System.Globalization;
using Cairn.FileStore;

namespace Cairn.Benchmarks.ReadableFile;

/// <summary>The sizes of the readable file's cases.</summary>
/// <param name="Sizes">The numbers of entries.</param>
/// <param name="Reads">The number of reads per round.</param>
/// <param name="Writes">The number of writes per round.</param>
/// <param name="Rounds">The number of rounds of each case.</param>
internal sealed record FileScale(IReadOnlyList<int> Sizes, int Reads, int Writes, int Rounds)
{
    public static FileScale Full { get; } = new([100, 1_000, 10_000, 100_000], Reads: 2_000_000, Writes: 20_000, Rounds: 9);

    public static FileScale Quick { get; } = new([100, 10_000], Reads: 200_000, Writes: 2_000, Rounds: 3);

    public static string Spell(int entries) => entries.ToString("N0", CultureInfo.InvariantCulture);

    public static string Key(int number) => string.Create(CultureInfo.InvariantCulture, $"key{number:D7}");

    public static string Value(int number) => string.Create(CultureInfo.InvariantCulture, $"value of the entry {number:D7}");

    public static DistributedFileStoreCacheOptions Options(string folder, string name) => new()
    {
        PathToCacheFileDirectory = folder,
        FirstPartOfCacheFileName = name,
        SecondPartOfCacheFileName = "Benchmark",
        MaxBytesInJsonCacheFile = int.MaxValue,
    };

    /// <summary>Replaces the content of a file by <paramref name="entries"/> entries.</summary>
    public static void Fill(DistributedFileStoreCacheString cache, int entries) =>
        cache.ClearAll([.. Enumerable.Range(0, entries).Select(number => KeyValuePair.Create(Key(number), Value(number)))]);
}
