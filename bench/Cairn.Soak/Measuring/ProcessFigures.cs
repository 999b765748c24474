using System.Globalization;

namespace Cairn.Soak.Measuring;

/// <summary>What the kernel says a process holds.</summary>
/// <param name="AnonymousBytes">Resident memory that is not the mapped store: heap, stacks, buffers.</param>
/// <param name="Descriptors">Open descriptors.</param>
/// <param name="Threads">Threads.</param>
/// <param name="Mappings">Mapped regions.</param>
/// <param name="CpuSeconds">Processor time since its start.</param>
internal readonly record struct ProcessFigures(long AnonymousBytes, int Descriptors, int Threads, int Mappings, double CpuSeconds)
{
    // USER_HZ, which is 100 on every architecture that .NET runs on.
    private const double TicksPerSecond = 100;

    /// <exception cref="IOException">The process has ended.</exception>
    public static ProcessFigures Of(int process)
    {
        string root = RootOf(process);
        return new ProcessFigures(
            AnonymousBytesOf(process),
            Directory.GetFileSystemEntries($"{root}/fd").Length,
            (int)StatusOf(process, "Threads:"),
            File.ReadLines($"{root}/maps").Count(),
            CpuSecondsOf(process));
    }

    /// <exception cref="IOException">The process has ended.</exception>
    public static long AnonymousBytesOf(int process) => StatusOf(process, "RssAnon:") << 10;

    /// <exception cref="IOException">The process has ended.</exception>
    public static double CpuSecondsOf(int process)
    {
        // The name, in parentheses, may hold spaces; the state follows it as field 3, user and system time are fields 14 and 15.
        string stat = File.ReadAllText($"{RootOf(process)}/stat");
        string[] fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        return (double.Parse(fields[11], CultureInfo.InvariantCulture) + double.Parse(fields[12], CultureInfo.InvariantCulture)) / TicksPerSecond;
    }

    // A process that is about to end has no memory any more, and no such line.
    private static long StatusOf(int process, string name) =>
        File.ReadLines($"{RootOf(process)}/status").FirstOrDefault(line => line.StartsWith(name, StringComparison.Ordinal)) is { } line
            ? long.Parse(line.AsSpan(name.Length).TrimEnd("kB"), NumberStyles.Integer, CultureInfo.InvariantCulture)
            : 0;

    private static string RootOf(int process) => $"/proc/{process.ToString(CultureInfo.InvariantCulture)}";
}
