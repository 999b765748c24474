using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Text;

namespace Cairn.Benchmarks.Reporting;

/// <summary>Draws requests per second as bars in SVG; rsvg-convert creates a PNG from it.</summary>
internal static class FigureChart
{
    private const int Width = 910;
    private const int LabelWidth = 180;
    private const int BarsWidth = 470;
    private const int RowHeight = 34;
    private const int BarHeight = 22;
    private const int Top = 64;
    private const int Bottom = 52;
    private const int PngScale = 2;

    public static string ToSvg(string title, string footer, IReadOnlyList<ServiceFigure> figures)
    {
        var height = Top + (figures.Count * RowHeight) + Bottom;
        var most = figures.Max(figure => figure.RequestsPerSecond);
        var svg = new StringBuilder();
        Add($"""<svg xmlns="http://www.w3.org/2000/svg" width="{Width}" height="{height}" viewBox="0 0 {Width} {height}" font-family="DejaVu Sans, Arial, sans-serif" font-size="13" fill="#1f2328">""");
        Add($"""<rect width="{Width}" height="{height}" fill="#ffffff"/>""");
        Add($"""<text x="20" y="30" font-size="17" font-weight="bold">{WebUtility.HtmlEncode(title)}</text>""");
        Add($"""<text x="20" y="50" fill="#57606a">longer is better; then p50 and p99, and queries per request</text>""");
        for (var i = 0; i < figures.Count; i++)
        {
            var figure = figures[i];
            var top = Top + (i * RowHeight);
            var baseline = top + 16;
            var width = Math.Max(1, Math.Round(figure.RequestsPerSecond / most * BarsWidth));
            Add($"""<text x="{LabelWidth}" y="{baseline}" text-anchor="end">{WebUtility.HtmlEncode(figure.Subject)}</text>""");
            Add($"""<rect x="{LabelWidth + 10}" y="{top}" width="{width}" height="{BarHeight}" rx="2" fill="{ColourOf(figure)}"/>""");
            Add($"""<text x="{LabelWidth + 18 + width}" y="{baseline}"><tspan font-weight="bold">{figure.RequestsPerSecond:#,0}</tspan><tspan dx="8" fill="#57606a">{figure.MedianMs:0.0} / {figure.TailMs:0.0} ms, {figure.QueriesPerRequest:0.##} q</tspan></text>""");
        }

        Add($"""<text x="20" y="{height - 18}" font-size="11" fill="#57606a">{WebUtility.HtmlEncode(footer)}</text>""");
        Add($"</svg>");
        return svg.ToString();

        void Add(FormattableString line) => svg.Append(line.ToString(CultureInfo.InvariantCulture)).Append('\n');
    }

    /// <summary>Writes the chart and, beside it, a PNG of it.</summary>
    /// <returns>Whether the PNG was written; it needs rsvg-convert.</returns>
    public static bool Write(FileInfo target, string title, string footer, IReadOnlyList<ServiceFigure> figures)
    {
        File.WriteAllText(target.FullName, ToSvg(title, footer, figures));
        try
        {
            using var convert = Process.Start(new ProcessStartInfo(
                "rsvg-convert",
                ["--zoom", PngScale.ToString(CultureInfo.InvariantCulture), "--output", Path.ChangeExtension(target.FullName, ".png"), target.FullName])
            { UseShellExecute = false })!;
            convert.WaitForExit();
            return convert.ExitCode == 0;
        }
        catch (Win32Exception)
        {
            return false;
        }
    }

    // One colour each for paths that query the database, the constant answer, and paths with a cache.
    private static string ColourOf(ServiceFigure figure) =>
        figure.QueriesPerRequest > 0.5 ? "#8c959f" : figure.Subject == "constant" ? "#d4a72c" : "#0969da";
}
