using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Formats;

/// <summary>
/// Measures the processor time that a new process takes to write and read its first 50 records in a format, and what remains of it after a
/// warm-up with one record. Each figure is from a process of its own.
/// </summary>
internal static class FirstUseCase
{
    /// <summary>The command of a child process: format, and the number of records of its warm-up. It prints milliseconds.</summary>
    public const string Command = "first-use";

    private const string ReflectionName = "JSON by reflection";
    private const string WarmUp = "1";
    private const string NoWarmUp = "0";
    private const int Records = 50;
    private const int Rounds = 9;

    public static void Measure(AreaRun run)
    {
        // The formats of Cairn's packages.
        string[] formats = [nameof(ValueFormat.Json), ReflectionName, nameof(ValueFormat.Xml), nameof(ValueFormat.BinaryXml), nameof(ValueFormat.Protobuf)];
        foreach ((string name, string warmUp) in new[] { ("in a new process", NoWarmUp), ("after a warm-up with 1 record", WarmUp) })
        {
            Finding[] pending = [.. formats.Select(format => new Finding($"first {Records} records {name}", format, "1 ms"))];
            run.Check($"serializers, first use {name}", [.. pending], () =>
            {
                int rounds = run.Settings.Rounds ?? (run.Settings.IsQuick ? 3 : Rounds);
                double[][] times = [.. Enumerable.Range(0, rounds).Select(_ => formats.Select(format => Ask(format, warmUp)).ToArray())];
                return [.. pending.Select((finding, at) => finding with { Ratio = Statistics.Median(times.Select(round => round[at])) })];
            });
        }
    }

    /// <summary>Runs the program as a child process.</summary>
    public static int Serve(IReadOnlyList<string> arguments)
    {
        int warmUp = int.Parse(arguments[1], CultureInfo.InvariantCulture);
        Catalogue few = Catalogue.Make(warmUp);
        Catalogue value = Catalogue.Make(Records);
        bool usesReflection = arguments[0] == ReflectionName;
        ValueFormat format = usesReflection ? ValueFormat.Json : Enum.Parse<ValueFormat>(arguments[0]);
        long before = CpuClock.ProcessNs();
        using var codec = new CatalogueCodec(format, usesReflection);
        if (warmUp > 0)
        {
            codec.Read(codec.Write(few));
            before = CpuClock.ProcessNs();
        }

        int read = codec.Read(codec.Write(value)).Records.Count;
        double spentMs = (CpuClock.ProcessNs() - before) / 1e6;
        Console.WriteLine(read == Records ? spentMs.ToString(CultureInfo.InvariantCulture) : $"{format} has lost records.");
        return 0;
    }

    private static double Ask(string format, string warmUp)
    {
        using Process child = ChildProcess.Start(Command, format, warmUp);
        string? line = child.StandardOutput.ReadLine();
        child.WaitForExit();
        return double.Parse(line ?? throw new InvalidOperationException("The process ended without a figure."), CultureInfo.InvariantCulture);
    }
}
