using System.Globalization;
using Cairn.Benchmarks.Measuring;
using Spectre.Console;

namespace Cairn.Benchmarks.Reporting;

/// <summary>Prints findings as a table.</summary>
internal static class ReportTable
{
    // A file or a pipe has no width. This width fits every case name.
    private const int RedirectedWidth = 180;

    public static void Write(IAnsiConsole console, IReadOnlyCollection<Finding> findings)
    {
        var table = new Table().Border(TableBorder.Simple);
        table.AddColumn("case");
        table.AddColumn("subject");
        table.AddColumn("against");
        foreach (var heading in new[] { "cpu ns", "wall ns", "bytes", "peer cpu", "peer wall", "ratio", "goal", "stretch" })
        {
            table.AddColumn(new TableColumn(heading).RightAligned().NoWrap());
        }

        table.AddColumn("met");
        foreach (var finding in findings)
        {
            table.AddRow(
                Markup.Escape(finding.Case),
                Markup.Escape(finding.Subject),
                Markup.Escape(finding.Against),
                Time(finding.Measured?.CpuNs),
                Time(finding.Measured?.WallNs),
                Text(finding.Measured?.BytesAllocated, "0.##"),
                Time(finding.Peer?.CpuNs),
                Time(finding.Peer?.WallNs),
                Text(finding.Ratio, "0.000"),
                Bound(finding.Goal, finding.Goal?.Bound),
                Bound(finding.Goal, finding.Goal?.Stretch),
                finding.IsMet switch { true => "[green]yes[/]", false => "[red]no[/]", null => string.Empty });
        }

        console.Write(table);
        foreach (var finding in findings.Where(finding => finding.Note is not null))
        {
            console.MarkupLineInterpolated($"{finding.Case} ({finding.Against}): {finding.Note}");
        }
    }

    /// <summary>Returns standard output: a terminal unchanged, anything else without colour and as wide as the table.</summary>
    public static IAnsiConsole StandardOutput()
    {
        if (!Console.IsOutputRedirected)
        {
            return AnsiConsole.Console;
        }

        var console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = AnsiSupport.No,
            ColorSystem = ColorSystemSupport.NoColors,
        });
        console.Profile.Width = RedirectedWidth;
        return console;
    }

    private static string Bound(Goal? goal, double? bound) =>
        bound is null ? string.Empty : (goal!.IsLowerBound ? "≥ " : "≤ ") + Text(bound, "0.###");

    private static string Time(double? ns) => Text(ns, ns < 100 ? "0.0" : "#,0");

    private static string Text(double? value, string format) =>
        value?.ToString(format, CultureInfo.InvariantCulture) ?? string.Empty;
}
