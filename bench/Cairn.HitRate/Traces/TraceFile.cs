using System.Diagnostics;

namespace Cairn.HitRate.Traces;

/// <summary>A trace in the file <c>NAME.xz</c> in the folder of traces.</summary>
internal sealed record TraceFile(string Name, TraceFormat Format, IReadOnlyList<int> Capacities)
{
    private const int RoundsOfStress = 5;

    private static readonly double[] _percentsOfOwn = [1, 5, 20];

    /// <summary>Gets the traces, with the capacities in objects at which tables show them: small, medium and large for each trace.</summary>
    public static IReadOnlyList<TraceFile> Known { get; } =
    [
        new("oltp", TraceFormat.BlockRanges, [1868, 18_688]),
        new("scarab", TraceFormat.BigEndianKeys, [2583, 25_836]),
        new("adapt_size", TraceFormat.TimedObjects, [368, 3681]),
        new("loop", TraceFormat.Lines, [256, 512, 900]),
        new("multi1", TraceFormat.Lines, [26, 130, 1000]),
        new("sprite", TraceFormat.Lines, [70, 353, 1061]),
        new("gli", TraceFormat.Lines, [500, 1000]),
        new("stress", TraceFormat.BigEndianKeys, [512, 1024, 4573]),
        new("orm-night", TraceFormat.BigEndianShortKeys, [432, 4323, 12_969]),
        new("P3", TraceFormat.BlockRanges, [762, 38_127, 114_381]),
        new("P6", TraceFormat.BlockRanges, [3868, 38_688, 116_065]),
    ];

    /// <summary>Reads a trace in the format <see cref="TraceFormat.Lines"/>, compressed if its name ends with .xz.</summary>
    /// <exception cref="InvalidDataException">The file is empty or has another format.</exception>
    public static Trace ReadOwn(FileInfo file)
    {
        using var source = file.Extension == ".xz" ? null : file.OpenRead();
        var trace = source is null
            ? Decompress(file.DirectoryName!, Path.GetFileNameWithoutExtension(file.Name), TraceFormat.Lines)
            : TraceReader.Read(Path.GetFileNameWithoutExtension(file.Name), source, TraceFormat.Lines);
        return trace.Requests.Length == 0
            ? throw new InvalidDataException($"{file.FullName} has no request: each line is a key, or a key and a size in bytes.")
            : trace with { Capacities = [.. _percentsOfOwn.Select(percent => trace.CapacityAt(percent))] };
    }

    /// <summary>Reads the trace from a folder.</summary>
    /// <exception cref="FileNotFoundException">The folder has no trace with this name.</exception>
    /// <exception cref="InvalidDataException">The file is damaged or has another format.</exception>
    public Trace ReadFrom(string folder)
    {
        if (Name != "stress")
        {
            return Decompress(folder, Name, Format) with { Capacities = Capacities };
        }

        // A workload that changes, as in Einziger, Eytan, Friedman and Manes, "Adaptive Software Cache Management", Middleware 2018.
        var corda = Decompress(folder, "corda", TraceFormat.BigEndianKeys);
        var loop = Decompress(folder, "loop", TraceFormat.Lines);
        return Trace.Concat(
            Name,
            [
                .. Enumerable.Repeat(corda, RoundsOfStress), .. Enumerable.Repeat(loop, RoundsOfStress), .. Enumerable.Repeat(corda, RoundsOfStress),
            ]) with { Capacities = Capacities };
    }

    private static Trace Decompress(string folder, string name, TraceFormat format)
    {
        var path = Path.Combine(folder, name + ".xz");
        if (!File.Exists(path))
        {
            throw new FileNotFoundException($"There is no trace {name}.xz in {folder}; name the folder with --traces.", path);
        }

        var start = new ProcessStartInfo("xz", ["-dc", path]) { RedirectStandardOutput = true, UseShellExecute = false };
        using var xz = Process.Start(start) ?? throw new InvalidOperationException("xz could not be started.");
        var trace = TraceReader.Read(name, new BufferedStream(xz.StandardOutput.BaseStream, 1 << 16), format);
        xz.WaitForExit();
        return xz.ExitCode == 0
            ? trace
            : throw new InvalidDataException($"xz ended with exit code {xz.ExitCode} on {name}.xz.");
    }
}
