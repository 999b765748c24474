using System.Reflection;

namespace Cairn.Server.Exposition;

/// <summary>The resources that this process uses.</summary>
internal sealed record ProcessFigures
{
    /// <summary>Gets the version of the server.</summary>
    public static string Version { get; } =
        typeof(ProcessFigures).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+')[0] ?? "unknown";

    public double CpuSeconds { get; private init; }

    public double StartUnixSeconds { get; private init; }

    /// <summary>Gets the memory in use, including the part of the store's file that is in memory.</summary>
    public long ResidentBytes { get; private init; }

    /// <summary>Gets the part of the memory that belongs to no file; null if the system does not report it.</summary>
    public long? AnonymousBytes { get; private init; }

    public long? OpenFiles { get; private init; }

    public long? MaxOpenFiles { get; private init; }

    public static ProcessFigures Take()
    {
        using var process = Process.GetCurrentProcess();
        return new ProcessFigures
        {
            CpuSeconds = Environment.CpuUsage.TotalTime.TotalSeconds,
            StartUnixSeconds = new DateTimeOffset(process.StartTime).ToUnixTimeMilliseconds() / 1e3,
            ResidentBytes = Environment.WorkingSet,
            AnonymousBytes = Number("/proc/self/status", "RssAnon:", column: 1) * 1024,
            OpenFiles = Directory.Exists("/proc/self/fd") ? Directory.EnumerateFileSystemEntries("/proc/self/fd").LongCount() : null,
            MaxOpenFiles = Number("/proc/self/limits", "Max open files", column: 3),
        };
    }

    private static long? Number(string file, string start, int column)
    {
        if (!File.Exists(file))
        {
            return null;
        }

        string? line = File.ReadLines(file).FirstOrDefault(line => line.StartsWith(start, StringComparison.Ordinal));
        string[] words = line?.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries) ?? [];
        return column < words.Length && long.TryParse(words[column], NumberStyles.None, CultureInfo.InvariantCulture, out long number) ? number : null;
    }
}
