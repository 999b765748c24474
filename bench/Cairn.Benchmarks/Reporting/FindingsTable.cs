using Cairn.HitRate;

namespace Cairn.Benchmarks.Reporting;

/// <summary>Writes findings with their goals as a table in Markdown.</summary>
internal static class FindingsTable
{
    private const string Nothing = "-";

    public static IEnumerable<string> Of(IEnumerable<ReportRow> rows)
    {
        yield return "| case | against | CPU ns | ratio | goal | met |";
        yield return "|---|---|---|---|---|---|";
        foreach (ReportRow row in rows.Where(row => row.Ratio is not 0))
        {
            string goal = row.Goal is { } bound ? Picture.Invariant($"at {(row.AtLeast ? "least" : "most")} {bound:0.##}") : Nothing;
            string met = row.Met switch { true => "yes", false => "**no**", null => Nothing };
            yield return $"| {CaseOf(row)} | {row.Against} | {CostOf(row)} | {Short(row.Ratio)} | {goal} | {met} |";
        }
    }

    // "Cairn over a store file" adds "(over a store file)" to the case, and "Cairn, two threads" adds "(two threads)".
    private static string CaseOf(ReportRow row)
    {
        string kind = row.Subject.StartsWith("Cairn", StringComparison.Ordinal) ? row.Subject["Cairn".Length..].TrimStart(',', ' ') : row.Subject;
        return kind.Length == 0 ? row.Case : $"{row.Case} ({kind})";
    }

    private static string CostOf(ReportRow row) => row switch
    {
        { BytesAllocated: { } bytes } when row.Case.EndsWith(", bytes", StringComparison.Ordinal) => Picture.Invariant($"{bytes:#,0} B"),
        { CpuNs: { } ns } => ns < 100 ? Picture.Invariant($"{ns:0.0}") : Picture.Invariant($"{ns:#,0}"),
        _ => Nothing,
    };

    private static string Short(double? ratio) => ratio switch
    {
        { } value and < 10 => Picture.Invariant($"{value:0.00}"),
        { } value => Picture.Invariant($"{value:0.0}"),
        null => Nothing,
    };
}
