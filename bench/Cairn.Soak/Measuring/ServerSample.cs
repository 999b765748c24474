using System.Globalization;

namespace Cairn.Soak.Measuring;

/// <summary>One sample of a server.</summary>
/// <param name="AtSeconds">The time since the start of the soak test in seconds. Only the time of pieces counts.</param>
/// <param name="Server">The name of the server.</param>
/// <param name="IsIdle">Whether the load had paused.</param>
/// <param name="Process">The resources of the process.</param>
/// <param name="FileBytes">The length of the store's file.</param>
/// <param name="FolderBytes">The bytes that the store's folder takes on the disk.</param>
/// <param name="Requests">The number of requests of the steady clients since the last sample.</param>
/// <param name="P50Ms">The median latency of these requests. NaN without requests.</param>
/// <param name="P99Ms">The 99th percentile of the latency. NaN without requests.</param>
internal sealed record ServerSample(
    double AtSeconds,
    string Server,
    bool IsIdle,
    ProcessFigures Process,
    long FileBytes,
    long FolderBytes,
    int Requests,
    double P50Ms,
    double P99Ms)
{
    public const string Header =
        "at_seconds,server,idle,anonymous_bytes,descriptors,threads,mappings,cpu_seconds,file_bytes,folder_bytes,requests,p50_ms,p99_ms";

    public string ToLine() => string.Create(
        CultureInfo.InvariantCulture,
        $"{AtSeconds:F1},{Server},{(IsIdle ? 1 : 0)},{Process.AnonymousBytes},{Process.Descriptors},{Process.Threads},{Process.Mappings},{Process.CpuSeconds:F2},{FileBytes},{FolderBytes},{Requests},{P50Ms:F4},{P99Ms:F4}");

    public static ServerSample Parse(string line)
    {
        string[] fields = line.Split(',');
        return new ServerSample(
            Real(fields[0]),
            fields[1],
            fields[2] == "1",
            new ProcessFigures(Whole(fields[3]), (int)Whole(fields[4]), (int)Whole(fields[5]), (int)Whole(fields[6]), Real(fields[7])),
            Whole(fields[8]),
            Whole(fields[9]),
            (int)Whole(fields[10]),
            Real(fields[11]),
            Real(fields[12]));
    }

    private static long Whole(string field) => long.Parse(field, CultureInfo.InvariantCulture);

    private static double Real(string field) => double.Parse(field, CultureInfo.InvariantCulture);
}
