using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Measuring;
using Cairn.FileStore;

namespace Cairn.Benchmarks.ReadableFile;

/// <summary>Measures writes, the time until another process sees them, and the first read of a file.</summary>
internal static class FileWriteCases
{
    /// <summary>The command of the observing process: folder, number of values. It prints the time at which it saw each.</summary>
    public const string SightCommand = "see-file";

    private const string Subject = "Cairn";
    private const string SightFile = "sight";
    private const string SightKey = "seen";
    private const string WholeFileName = "whole JSON file";
    private const int ManyEntries = 100;
    private const int FirstReadEntries = 10_000;
    private const double NsPerMs = 1e6;

    /// <summary>Measures sets of existing keys. All file sizes take part in the same rounds.</summary>
    public static void Measure(AreaRun run, FileScale scale) => run.Measure("file writes", scale.Rounds, group =>
    {
        Writes? smallest = null;
        foreach (int entries in scale.Sizes)
        {
            var cache = group.Own(new DistributedFileStoreCacheString(FileScale.Options(run.Settings.Folder, $"write{entries}")));
            FileScale.Fill(cache, entries);
            string size = $"{FileScale.Spell(entries)} entries";
            var writes = group.Enter(new Writes($"{Subject}, {size}", cache, entries, scale.Writes));
            group.Compare($"set, process-crash safe, {size}", writes, group.Enter(new FixedCost("15 us", 15_000)), Goal.AtMost(1));
            group.Compare($"set, process-crash safe, {size}", writes, group.Enter(new FixedCost("15 us elapsed", 15_000)), Goal.AtMost(1), Quantity.WallTime);
            if (smallest is not null)
            {
                group.Compare($"set, by the number of entries, {size}", writes, smallest, Goal.AtMost(1.2));
            }

            smallest ??= writes;
        }
    });

    /// <summary>Compares SetAsync and SetMany with a file that each change writes as a whole. A peer's turn takes about as long in each size.</summary>
    public static void MeasureAgainstWholeFile(AreaRun run, FileScale scale)
    {
        foreach (int entries in scale.Sizes)
        {
            string size = $"{FileScale.Spell(entries)} entries";
            run.Measure($"file writes against a whole file, {size}", scale.Rounds, group =>
            {
                var cache = group.Own(new DistributedFileStoreCacheString(FileScale.Options(run.Settings.Folder, $"many{entries}")));
                FileScale.Fill(cache, entries);
                var whole = new WholeFile(Path.Combine(run.Settings.Folder, $"whole{entries}.json"), entries);
                int peersWrites = Math.Max(5, scale.Writes / 100 * 100 / (100 + entries));
                var one = group.Enter(new Changes($"{Subject}, SetAsync", entries, scale.Writes, 1, set => Wait(cache.SetAsync(set[0].Key, set[0].Value))));
                var oneOfWhole = group.Enter(new Changes(WholeFileName, entries, peersWrites, 1, set => whole.Set(set.ToArray())));
                group.Compare($"SetAsync, {size}", one, oneOfWhole, Goal.AtMost(1));
                group.Compare($"SetAsync, {size}", one, oneOfWhole, Goal.AtMost(1), Quantity.WallTime);
                var many = group.Enter(new Changes($"{Subject}, SetMany", entries, scale.Writes / ManyEntries, ManyEntries, set => cache.SetMany(set)));
                var manyOfWhole = group.Enter(new Changes(WholeFileName, entries, peersWrites, ManyEntries, set => whole.Set(set.ToArray())));
                group.Compare($"SetMany of {ManyEntries}, {size}", many, manyOfWhole, Goal.AtMost(1));
                group.Compare($"SetMany of {ManyEntries}, {size}", many, manyOfWhole, Goal.AtMost(1), Quantity.WallTime);
            });
        }
    }

    /// <summary>Measures the median time from the return of a set to the first read in another process that returns the new value.</summary>
    public static void MeasureSight(AreaRun run, FileScale scale)
    {
        var pending = new Finding("set until another process sees it, p50", Subject, "1 us") { Goal = Goal.AtMost(50) };
        run.Check(pending.Case, [pending], () =>
        {
            int count = scale.Writes / 4;
            using var cache = new DistributedFileStoreCacheString(FileScale.Options(run.Settings.Folder, SightFile));
            cache.ClearAll();
            using Process reader = ChildProcess.Start(SightCommand, run.Settings.Folder, Text(count));
            if (reader.StandardOutput.ReadLine() != "ready")
            {
                throw new InvalidOperationException("The reading process ended before it was ready.");
            }

            var returned = new long[count];
            for (int i = 0; i < count; i++)
            {
                cache.Set(SightKey, Text(i));
                returned[i] = Stopwatch.GetTimestamp();
                Wait(TimeSpan.FromMicroseconds(200)); // The other process needs time to see each value.
            }

            var delays = new List<double>(count);
            while (reader.StandardOutput.ReadLine() is { } line)
            {
                string[] fields = line.Split(' ');
                long seen = long.Parse(fields[1], CultureInfo.InvariantCulture);
                delays.Add(Math.Max(0, Stopwatch.GetElapsedTime(returned[int.Parse(fields[0], CultureInfo.InvariantCulture)], seen).TotalMicroseconds));
            }

            return [pending with { Ratio = Statistics.Median(delays), Note = $"{delays.Count} of {count} values seen" }];
        });
    }

    /// <summary>Measures opening a file and its first read, in a process that has read files before.</summary>
    public static void MeasureFirstRead(AreaRun run, FileScale scale)
    {
        string size = $"{FileScale.Spell(FirstReadEntries)} entries";
        var pending = new Finding($"first read of a file, {size}", Subject, "1 ms") { Goal = Goal.AtMost(5) };
        run.Check(pending.Case, [pending], () =>
        {
            DistributedFileStoreCacheOptions options = FileScale.Options(run.Settings.Folder, "first");
            using (var cache = new DistributedFileStoreCacheString(options))
            {
                FileScale.Fill(cache, FirstReadEntries);
            }

            double[] times = [.. Enumerable.Range(0, scale.Rounds * 5).Select(_ => FirstReadNs(options))];
            return [pending with { Ratio = Statistics.Median(times) / NsPerMs }];
        });
    }

    /// <summary>Runs the program as the observing process.</summary>
    public static int ServeSight(IReadOnlyList<string> arguments)
    {
        using var cache = new DistributedFileStoreCacheString(FileScale.Options(arguments[0], SightFile));
        int count = int.Parse(arguments[1], CultureInfo.InvariantCulture);
        cache.Get(SightKey);
        Console.WriteLine("ready");
        var seen = new List<(string Value, long At)>(count);
        string? last = null;
        string end = Text(count - 1);
        while (last != end)
        {
            string? value = cache.Get(SightKey);
            if (value is not null && value != last)
            {
                seen.Add((value, Stopwatch.GetTimestamp()));
                last = value;
            }
        }

        foreach ((string value, long at) in seen)
        {
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{value} {at}"));
        }

        return 0;
    }

    private static double FirstReadNs(DistributedFileStoreCacheOptions options)
    {
        long start = Stopwatch.GetTimestamp();
        using var cache = new DistributedFileStoreCacheString(options);
        if (cache.Get(FileScale.Key(FirstReadEntries - 1)) is null)
        {
            throw new InvalidDataException("The file has lost its last entry.");
        }

        return Stopwatch.GetElapsedTime(start).TotalNanoseconds;
    }

#pragma warning disable VSTHRD002 // A contender runs on one thread. SetAsync makes its change on this thread before it returns.
    private static void Wait(Task change) => change.GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    private static void Wait(TimeSpan time)
    {
        long start = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(start) < time)
        {
            Thread.SpinWait(20);
        }
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    // Changes of existing keys, which are drawn at random.
    private sealed class Changes(string name, int entries, int count, int entriesOfChange, Action<List<KeyValuePair<string, string>>> change)
        : OperationContender(name, count)
    {
        private readonly KeyValuePair<string, string>[] _entries =
            [.. Enumerable.Range(0, entries).Select(number => KeyValuePair.Create(FileScale.Key(number), FileScale.Value(number)))];

        private readonly Random _random = new(1);

        protected override void Run(int first, int count)
        {
            var set = new List<KeyValuePair<string, string>>(entriesOfChange);
            for (int i = 0; i < count; i++)
            {
                set.Clear();
                for (int entry = 0; entry < entriesOfChange; entry++)
                {
                    set.Add(_entries[_random.Next(_entries.Length)]);
                }

                change(set);
            }
        }
    }

    private sealed class Writes(string name, DistributedFileStoreCacheString cache, int entries, int count) : OperationContender(name, count)
    {
        private readonly string[] _keys = [.. Enumerable.Range(0, entries).Select(FileScale.Key)];
        private readonly Random _random = new(1);
        private readonly string _value = FileScale.Value(0);

        protected override void Run(int first, int count)
        {
            for (int i = 0; i < count; i++)
            {
                cache.Set(_keys[_random.Next(_keys.Length)], _value);
            }
        }
    }
}
