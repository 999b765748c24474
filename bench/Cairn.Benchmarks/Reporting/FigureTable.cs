using System.Globalization;
using Spectre.Console;

namespace Cairn.Benchmarks.Reporting;

/// <summary>Prints figures of services as a table.</summary>
internal static class FigureTable
{
    public static void Write(IAnsiConsole console, IReadOnlyList<ServiceFigure> figures)
    {
        var table = new Table().Border(TableBorder.Simple);
        table.AddColumn("read path");
        foreach (var heading in new[] { "requests/s", "p50 ms", "p99 ms", "cpu µs", "queries/request", "bytes/request" })
        {
            table.AddColumn(new TableColumn(heading).RightAligned().NoWrap());
        }

        foreach (var figure in figures)
        {
            table.AddRow(
                Markup.Escape(figure.Subject), Text(figure.RequestsPerSecond, "#,0"), Text(figure.MedianMs, "0.00"), Text(figure.TailMs, "0.00"),
                Text(figure.CpuUs, "0.0"), Text(figure.QueriesPerRequest, "0.####"), Text(figure.BytesAllocatedPerRequest, "#,0"));
        }

        console.Write(table);
    }

    private static string Text(double value, string format) => value.ToString(format, CultureInfo.InvariantCulture);
}
