using System.Buffers.Binary;
using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Store;

namespace Cairn.Benchmarks.Map;

/// <summary>Measures opening a map after a crash of the machine: the map is rebuilt from its log.</summary>
internal static class ReplayCases
{
    private const int Rounds = 5;
    private const int PutsAtOnce = 1_000;
    private const double NsPerSecond = 1e9;

    // The position of the boot id in the file (docs/file-format.md).
    private const long BootIdOffset = 132;
    private const int BootIdBytes = 40;

    public static void Measure(AreaRun run, MapScale scale)
    {
        var size = string.Create(CultureInfo.InvariantCulture, $"{scale.LoggedEntries / 1_000:N0}k entries in the log");
        var pending = new Finding($"open after an unclean restart, {size}", CairnSubject.Name, "1 s") { Goal = Goal.AtMost(2) };
        run.Check(pending.Case, [pending], () =>
        {
            Fill(run.Settings.Folder, scale.LoggedEntries);
            var times = Enumerable.Range(0, run.Settings.Rounds ?? Rounds).Select(_ => TimeOpening(run.Settings.Folder, scale.LoggedEntries)).ToList();
            var wallNs = Statistics.Median(times.Select(time => time.TotalNanoseconds));
            return [pending with { Measured = new Sample(CpuNs: wallNs, wallNs, BytesAllocated: 0), Ratio = wallNs / NsPerSecond }];
        });
    }

    // Many puts per transaction: each put is a record in the log, but only each transaction waits for the disk.
    private static void Fill(string folder, int entries)
    {
        using var map = BenchmarkMap.Create(folder, "replay", entries, Durability.GroupCommit);
        var collection = map.Store.Collection(map.Name);
        Span<byte> integer = stackalloc byte[sizeof(int)];
        for (var first = 0; first < entries; first += PutsAtOnce)
        {
            using var transaction = map.Store.BeginTransaction();
            for (var i = first; i < first + PutsAtOnce; i++)
            {
                BinaryPrimitives.WriteInt32LittleEndian(integer, i);
                transaction.Set(collection, integer, integer);
            }

            transaction.Commit();
        }
    }

    private static TimeSpan TimeOpening(string folder, int entries)
    {
        var path = Path.Combine(folder, "replay.cairn");
        using (var file = File.OpenWrite(path))
        {
            file.Position = BootIdOffset;
            file.Write(new byte[BootIdBytes]);
        }

        var startedAt = Stopwatch.GetTimestamp();
        using var map = PersistentMap.Open<int, int>(new StoreOptions { Path = path, FlushOnClose = false });
        var elapsed = Stopwatch.GetElapsedTime(startedAt);
        return map.Count == entries && map.Get(entries - 1) == entries - 1
            ? elapsed
            : throw new InvalidDataException($"The map came back with {map.Count} of {entries} entries.");
    }
}
