using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Store;

/// <summary>Measures the cost of the file: the time to open it, and its bytes for each entry.</summary>
internal static class FileCases
{
    /// <summary>The command of a child process. Its argument is a path. It opens that store and prints how many nanoseconds that took.</summary>
    public const string OpenCommand = "open-store";

    private const int EntryBytes = Requests.KeyBytes + StoreScale.ValueBytes;
    private const double NsPerMs = 1e6;

    /// <summary>Measures opening an existing, full store in a warm process, and in one that has just started.</summary>
    public static void MeasureOpening(AreaRun run, long capacityBytes)
    {
        var size = capacityBytes >= 1L << 30 ? $"{capacityBytes >> 30} GiB" : $"{capacityBytes >> 20} MiB";
        var warm = new Finding($"open, {size}", CairnSubject.Name, "1 ms") { Goal = Goal.AtMost(20) };
        var first = new Finding($"open, {size}, first in a process, ReadyToRun", CairnSubject.Name, "1 ms") { Goal = Goal.AtMost(20) };
        var compiled = new Finding($"open, {size}, first in a process, compiled at run time", CairnSubject.Name, "1 ms");
        run.Check($"open, {size}", [warm, first, compiled], () =>
        {
            var path = CreateFull(run.Settings.Folder, capacityBytes);
            var rounds = Enumerable.Range(0, run.Settings.Rounds ?? 9).ToList();
            var findings = new List<Finding>
            {
                WithTimes(warm, [.. rounds.Select(_ => TimeOpening(path))]),
                WithTimes(compiled, [.. rounds.Select(_ => TimeOpeningIn(ChildProcess.Start(OpenCommand, path)))]),
            };
            if (!run.Settings.IsQuick)
            {
                var build = AheadOfTimeBuild.Publish(run.Settings.Root, run.Settings.Folder);
                findings.Insert(1, WithTimes(
                    first, [.. rounds.Select(_ => TimeOpeningIn(ChildProcess.StartBuild(build, OpenCommand, path)))]));
            }

            return findings;
        });
    }

    /// <summary>Measures the bytes of the file for each entry beyond key and value: of the structures alone, and in use.</summary>
    /// <remarks>
    /// The structures are the header and padding of an entry, and its share of everything outside segments (index, ghosts, headers, owners). That share
    /// is measured when every segment is full. In use, some segments are free, open or being evicted, so the same file has fewer entries. The figure
    /// in use is measured after twice as many different keys as fit were set.
    /// </remarks>
    public static void MeasureOverhead(AreaRun run, long capacityBytes)
    {
        var structures = new Finding("file bytes per entry beyond key and value", CairnSubject.Name, "1 byte")
        {
            Goal = Goal.AtMost(40),
        };
        var atWork = new Finding("the same, under constant eviction", CairnSubject.Name, "1 byte");
        run.Check(structures.Case, [structures, atWork], () =>
        {
            using var store = BenchmarkStore.Create(
                run.Settings.Folder, "overhead", capacityBytes, Requests.KeyBytes, StoreScale.ValueBytes);
            BenchmarkStore.Load(store, 0, (int)(capacityBytes / EntryBytes * 2), StoreScale.ValueBytes);

            var statistics = store.GetStatistics();
            var segmentBytes = (double)statistics.Segments * statistics.BytesPerSegment;
            var bytesInSegments = (double)statistics.Totals.Bytes / statistics.Totals.Entries;
            var entriesWhenFull = segmentBytes / bytesInSegments;
            return
            [
                structures with { Ratio = (statistics.FileBytes / entriesWhenFull) - EntryBytes },
                atWork with { Ratio = ((double)statistics.FileBytes / statistics.Totals.Entries) - EntryBytes },
            ];
        });
    }

    /// <summary>Runs the program as a child process that opens a store.</summary>
    public static int ServeOpening(IReadOnlyList<string> arguments)
    {
        Console.WriteLine(TimeOpening(arguments[0]).TotalNanoseconds.ToString(CultureInfo.InvariantCulture));
        return 0;
    }

    private static string CreateFull(string folder, long capacityBytes)
    {
        using var store = BenchmarkStore.Create(folder, "open", capacityBytes, Requests.KeyBytes, StoreScale.ValueBytes);
        BenchmarkStore.Load(store, 0, (int)(capacityBytes / EntryBytes), StoreScale.ValueBytes);
        return store.Path;
    }

    private static TimeSpan TimeOpening(string path)
    {
        var startedAt = Stopwatch.GetTimestamp();
        using var store = CairnStore.Open(new StoreOptions { Path = path, FlushOnClose = false });
        return Stopwatch.GetElapsedTime(startedAt);
    }

    private static TimeSpan TimeOpeningIn(Process started)
    {
        using var process = started;
        var answer = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return TimeSpan.FromMilliseconds(double.Parse(answer, CultureInfo.InvariantCulture) / NsPerMs);
    }

    private static Finding WithTimes(Finding pending, IReadOnlyList<TimeSpan> times)
    {
        var wallNs = Statistics.Median(times.Select(time => time.TotalNanoseconds));
        return pending with
        {
            Measured = new Sample(CpuNs: wallNs, wallNs, BytesAllocated: 0),
            Ratio = wallNs / NsPerMs,
        };
    }
}
