using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Measuring;
using Cairn.FileStore;

namespace Cairn.Benchmarks.ReadableFile;

/// <summary>Measures many processes that write one file as fast as they can while others read it.</summary>
internal static class FileCrowdCases
{
    /// <summary>The command of a writer: folder, name, number of values to set. It prints the time of each set.</summary>
    public const string WriteCommand = "write-file";

    /// <summary>The command of a reader. Its argument is a folder. It reads all keys repeatedly until its input ends.</summary>
    public const string ReadCommand = "read-file";

    private const string File = "crowd";
    private const string Subject = "Cairn";
    private const int Writers = 8;
    private const int Readers = 2;
    private const int Sets = 1_000;
    private const int Keys = 100;
    private const int WarmUps = 500;
    private const int Rounds = 5;

    public static void Measure(AreaRun run)
    {
        string name = $"{Writers} processes that set {FileScale.Spell(Sets)} values each, {Readers} that read";
        var p99 = new Finding($"{name}: p99", Subject, "1 ms") { Goal = Goal.AtMost(5) };
        var p50 = new Finding($"{name}: p50", Subject, "1 ms");
        var longest = new Finding($"{name}: longest", Subject, "1 ms");
        var wrong = new Finding($"{name}: exceptions and lost values", Subject, "1 value") { Goal = Goal.AtMost(0) };
        run.Check(name, [p99, p50, longest, wrong], () =>
        {
            Round[] rounds = [.. Enumerable.Range(0, run.Settings.Rounds ?? Rounds).Select(_ => RunOnce(run.Settings.Folder))];
            return
            [
                p99 with { Ratio = Statistics.Median(rounds.Select(round => round.P99)) },
                p50 with { Ratio = Statistics.Median(rounds.Select(round => round.P50)) },
                longest with { Ratio = Statistics.Median(rounds.Select(round => round.Longest)) },
                wrong with { Ratio = rounds.Sum(round => round.Wrong) },
            ];
        });
    }

    /// <summary>Runs the program as a writer.</summary>
    public static int ServeWriting(IReadOnlyList<string> arguments)
    {
        string name = arguments[1];
        int sets = int.Parse(arguments[2], CultureInfo.InvariantCulture);
        using var cache = new DistributedFileStoreCacheString(FileScale.Options(arguments[0], File));
        for (int i = 0; i < WarmUps; i++)
        {
            cache.Set(Key(name, 0), Value(0));
        }

        Console.WriteLine("ready");
        Console.ReadLine();
        int failures = 0;
        var times = new double[sets];
        for (int i = 0; i < sets; i++)
        {
            long start = Stopwatch.GetTimestamp();
            try
            {
                cache.Set(Key(name, i % Keys), Value(i));
            }
            catch (Exception e)
            {
                Console.Error.WriteLine(e);
                failures++;
            }

            times[i] = Stopwatch.GetElapsedTime(start).TotalMilliseconds;
        }

        Console.WriteLine(failures);
        Console.WriteLine(string.Join(' ', times.Select(time => time.ToString("F4", CultureInfo.InvariantCulture))));
        return 0;
    }

    /// <summary>Runs the program as a reader. It counts values that are older than one that it read before.</summary>
    public static int ServeReading(IReadOnlyList<string> arguments)
    {
        using var cache = new DistributedFileStoreCacheString(FileScale.Options(arguments[0], File));
        var last = new Dictionary<string, int>(StringComparer.Ordinal);
        int wrong = 0;
        Console.WriteLine("ready");
        Task<string?> end = Task.Run(Console.ReadLine);
        while (!end.IsCompleted)
        {
            foreach ((string key, string value) in cache.GetAllKeyValues())
            {
                int number = int.Parse(value, CultureInfo.InvariantCulture);
                wrong += number < last.GetValueOrDefault(key) ? 1 : 0;
                last[key] = number;
            }

            Thread.Sleep(1);
        }

        Console.WriteLine(wrong);
        return 0;
    }

    private static Round RunOnce(string folder)
    {
        using (var cache = new DistributedFileStoreCacheString(FileScale.Options(folder, File)))
        {
            cache.ClearAll();
        }

        var children = new List<Process>();
        try
        {
            Process[] readers = [.. Enumerable.Range(0, Readers).Select(_ => Start(children, ReadCommand, folder))];
            Process[] writers = [.. Enumerable.Range(0, Writers).Select(i => Start(children, WriteCommand, folder, Name(i), Text(Sets)))];
            foreach (Process writer in writers)
            {
                writer.StandardInput.WriteLine("go");
            }

            double wrong = 0;
            var times = new List<double>();
            foreach (Process writer in writers)
            {
                wrong += Number(writer.StandardOutput.ReadLine());
                times.AddRange(writer.StandardOutput.ReadLine()!.Split(' ').Select(time => double.Parse(time, CultureInfo.InvariantCulture)));
            }

            foreach (Process reader in readers)
            {
                reader.StandardInput.Close();
                wrong += Number(reader.StandardOutput.ReadLine());
            }

            wrong += CountLost(folder);
            times.Sort();
            return new Round(times[times.Count / 2], times[times.Count * 99 / 100], times[^1], wrong);
        }
        finally
        {
            foreach (Process child in children)
            {
                child.StandardInput.Close();
                child.WaitForExit();
                child.Dispose();
            }
        }
    }

    private static Process Start(List<Process> children, params string[] arguments)
    {
        Process child = ChildProcess.Start(arguments);
        children.Add(child);
        return child.StandardOutput.ReadLine() == "ready" ? child : throw new InvalidOperationException("A process ended before it was ready.");
    }

    private static int CountLost(string folder)
    {
        using var cache = new DistributedFileStoreCacheString(FileScale.Options(folder, File));
        return Enumerable.Range(0, Writers).Sum(writer => Enumerable.Range(0, Keys).Count(key =>
            cache.Get(Key(Name(writer), key)) != Value(Sets - Keys + key)));
    }

    private static string Name(int writer) => $"writer{Text(writer)}";

    private static string Key(string name, int number) => $"{name}:{Text(number)}";

    private static string Value(int number) => number.ToString("D7", CultureInfo.InvariantCulture);

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static int Number(string? line) => int.Parse(line!, CultureInfo.InvariantCulture);

    /// <summary>The result of one round: times in milliseconds, and the number of errors.</summary>
    private sealed record Round(double P50, double P99, double Longest, double Wrong);
}
