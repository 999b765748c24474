using System.Text.Json;
using System.Text.Json.Serialization;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Reporting;

/// <summary>The result of one area for other programs. All areas use the same format.</summary>
/// <param name="Area">The name of the area.</param>
/// <param name="Date">The day of the run, UTC, as yyyy-MM-dd.</param>
/// <param name="Commit">The commit that was measured. It ends in "-dirty" if tracked files differed from it.</param>
/// <param name="Machine">The processor, memory, kernel and runtime.</param>
/// <param name="Command">The command that repeats the run.</param>
/// <param name="Rows">One row for each goal and peer.</param>
internal sealed record Report(
    string Area, string Date, string Commit, string Machine, string Command, IReadOnlyList<ReportRow> Rows)
{
    /// <summary>Gets the figures of services under load; left out where no service was measured.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public IReadOnlyList<ServiceFigure>? Figures { get; init; }

    public void WriteTo(Stream target) => JsonSerializer.Serialize(target, this, ReportJsonContext.Default.Report);
}

/// <summary>
/// One finding. Times and allocation are the subject's, per operation; a figure that could not be measured is null. A limit that is
/// not a peer is expressed against its unit: against "1 ms" the ratio is in milliseconds. The goal is an upper bound unless AtLeast is true.
/// </summary>
internal sealed record ReportRow(
    string Case,
    string Subject,
    string Against,
    double? CpuNs,
    double? WallNs,
    double? BytesAllocated,
    double? Ratio,
    double? Goal,
    bool? Met,
    [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)] bool AtLeast = false)
{
    public static ReportRow Of(Finding finding) => new(
        finding.Case,
        finding.Subject,
        finding.Against,
        Rounded(finding.Measured?.CpuNs, 2),
        Rounded(finding.Measured?.WallNs, 2),
        Rounded(finding.Measured?.BytesAllocated, 2),
        Rounded(finding.Ratio, 4),
        Rounded(finding.Goal?.Bound, 4),
        finding.IsMet,
        finding.Goal is { IsLowerBound: true });

    private static double? Rounded(double? value, int digits) => value is { } number ? Math.Round(number, digits) : null;
}

[JsonSourceGenerationOptions(WriteIndented = true, PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(Report))]
internal sealed partial class ReportJsonContext : JsonSerializerContext;
