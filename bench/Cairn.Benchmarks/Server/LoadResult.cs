using System.Globalization;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Server;

/// <summary>The result of one run of the load generator.</summary>
internal sealed record LoadResult(double Operations, double Seconds, double ServerCpuSeconds, double MedianUs, double TailUs, long Failures)
{
    private const double NsPerSecond = 1e9;
    private const double NsPerUs = 1e3;

    /// <summary>Parses the line that the load generator prints.</summary>
    /// <exception cref="InvalidDataException">The line has another format.</exception>
    public static LoadResult Parse(string line)
    {
        var fields = line.Split(' ', StringSplitOptions.RemoveEmptyEntries)
            .Select(field => field.Split('=', 2))
            .Where(parts => parts.Length == 2)
            .ToDictionary(parts => parts[0], parts => parts[1], StringComparer.Ordinal);
        return new LoadResult(
            Field("operations"), Field("seconds"), Field("server_cpu_seconds"), Field("p50_us"), Field("p99_us"), (long)Field("failures"));

        double Field(string name) =>
            fields.TryGetValue(name, out var text) && double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out var number)
                ? number
                : throw new InvalidDataException($"The load generator printed no {name}: {line}");
    }

    /// <summary>Returns the cost of one operation.</summary>
    public Sample ToSample() => new(ServerCpuSeconds * NsPerSecond / Operations, Seconds * NsPerSecond / Operations, BytesAllocated: 0)
    {
        MedianLatencyNs = MedianUs * NsPerUs,
        TailLatencyNs = TailUs * NsPerUs,
    };
}
