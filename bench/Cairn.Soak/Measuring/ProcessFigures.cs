using System.Globalization;

namespace Cairn.Soak.Measuring;

/// <summary>The resources that a process holds, from the kernel.</summary>
/// <param name="AnonymousBytes">Resident memory without the mapped store: heap, stacks, buffers.</param>
/// <param name="Descriptors">The number of open descriptors.</param>
/// <param name="Threads">The number of threads.</param>
/// <param name="Mappings">The number of mapped regions.</param>
/// <param name="CpuSeconds">The processor time since the start of the process.</param>
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
        // The name is in parentheses and can contain spaces. The state follows as field 3. User and system time are fields 14 and 15.
        string stat = File.ReadAllText($"{RootOf(process)}/stat");
        string[] fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        return (double.Parse(fields[11], CultureInfo.InvariantCulture) + double.Parse(fields[12], CultureInfo.InvariantCulture)) / TicksPerSecond;
    }

    // A process that is about to end has no memory any more, and its file has no such line.
    private static long StatusOf(int process, string name) =>
        File.ReadLines($"{RootOf(process)}/status").FirstOrDefault(line => line.StartsWith(name, StringComparison.Ordinal)) is { } line
            ? long.Parse(line.AsSpan(name.Length).TrimEnd("kB"), NumberStyles.Integer, CultureInfo.InvariantCulture)
            : 0;

    private static string RootOf(int process) => $"/proc/{process.ToString(CultureInfo.InvariantCulture)}";
}
