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
        string root = $"/proc/{process.ToString(CultureInfo.InvariantCulture)}";
        long anonymous = 0;
        int threads = 0;
        foreach (string line in File.ReadLines($"{root}/status"))
        {
            if (line.StartsWith("RssAnon:", StringComparison.Ordinal))
            {
                anonymous = Number(line) << 10;
            }
            else if (line.StartsWith("Threads:", StringComparison.Ordinal))
            {
                threads = (int)Number(line);
            }
        }

        // The name, in parentheses, may hold spaces; the state follows it as field 3, user and system time are fields 14 and 15.
        string stat = File.ReadAllText($"{root}/stat");
        string[] fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        double ticks = double.Parse(fields[11], CultureInfo.InvariantCulture) + double.Parse(fields[12], CultureInfo.InvariantCulture);
        return new ProcessFigures(
            anonymous,
            Directory.GetFileSystemEntries($"{root}/fd").Length,
            threads,
            File.ReadLines($"{root}/maps").Count(),
            ticks / TicksPerSecond);
    }

    private static long Number(string line) =>
        long.Parse(line.Split(':')[1].Replace("kB", "", StringComparison.Ordinal), NumberStyles.Integer, CultureInfo.InvariantCulture);
}
