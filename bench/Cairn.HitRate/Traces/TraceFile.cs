using System.Diagnostics;

namespace Cairn.HitRate.Traces;

/// <summary>A trace in the file <c>NAME.xz</c> in the folder of traces.</summary>
internal sealed record TraceFile(string Name, TraceFormat Format)
{
    public static IReadOnlyList<TraceFile> Known { get; } =
    [
        new("oltp", TraceFormat.BlockRanges),
        new("scarab", TraceFormat.BigEndianKeys),
        new("adapt_size", TraceFormat.TimedObjects),
    ];

    /// <summary>Decompresses the file with <c>xz</c> and reads it.</summary>
    /// <exception cref="FileNotFoundException">The folder has no trace with this name.</exception>
    /// <exception cref="InvalidDataException">The file is damaged or has another format.</exception>
    public Trace ReadFrom(string folder)
    {
        var path = Path.Combine(folder, Name + ".xz");
        if (!File.Exists(path))
        {
            throw new FileNotFoundException($"There is no trace {Name}.xz in {folder}; name the folder with --traces.", path);
        }

        var start = new ProcessStartInfo("xz", ["-dc", path]) { RedirectStandardOutput = true, UseShellExecute = false };
        using var xz = Process.Start(start) ?? throw new InvalidOperationException("xz could not be started.");
        var trace = TraceReader.Read(Name, new BufferedStream(xz.StandardOutput.BaseStream, 1 << 16), Format);
        xz.WaitForExit();
        return xz.ExitCode == 0
            ? trace
            : throw new InvalidDataException($"xz ended with exit code {xz.ExitCode} on {Name}.xz.");
    }
}
