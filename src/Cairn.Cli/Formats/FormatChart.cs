using System.Globalization;
using System.Text;
using Cairn.Cli.Output;

namespace Cairn.Cli.Formats;

/// <summary>Draws comparisons as an SVG picture: a bar for each format, with the four parts of its time one behind the other.</summary>
internal static class FormatChart
{
    private const int Width = 780;
    private const int Margin = 16;
    private const int TitleHeight = 44;
    private const int BarsLeft = 170;
    private const int BarsWidth = 430;
    private const int RowHeight = 22;
    private const int BarHeight = 14;
    private const int HeadingHeight = 40;
    private const int LegendWidth = 110;
    private const int MarkSize = 12;
    private const int TextGap = 8;
    private const int Baseline = 12;

    private const string Title = "What a list takes to be written and read";
    private const string Scale = "Time of one list, and its bytes: shorter is better. Each group has its own scale.";

    public static void Write(ToolOutput output, IReadOnlyList<FormatComparison> comparisons, string transport)
    {
        int rows = comparisons.Sum(comparison => comparison.Trials.Count);
        int height = (2 * Margin) + TitleHeight + RowHeight + (rows * RowHeight) + (comparisons.Count * HeadingHeight);
        var picture = new StringBuilder();
        Add(picture, $"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {Width} {height}" font-family="sans-serif" font-size="12" role="img" aria-label="{Title}">""");
        Add(picture, $"""<rect width="{Width}" height="{height}" rx="10" fill="#ffffff"/>""");
        AddHeading(picture, Margin + Baseline, Title);
        AddText(picture, Margin, Margin + Baseline + MarkSize + TextGap, Scale);
        int top = Margin + TitleHeight;
        int x = BarsLeft;
        foreach (FormatReport.Part part in FormatReport.Parts)
        {
            Add(picture, $"""<rect x="{x}" y="{top}" width="{MarkSize}" height="{MarkSize}" fill="{part.Colour}"/>""");
            AddText(picture, x + MarkSize + TextGap, top + MarkSize - 1, part.Name);
            x += LegendWidth;
        }

        int y = top + RowHeight;
        foreach (FormatComparison comparison in comparisons)
        {
            AddHeading(picture, y + HeadingHeight - TextGap - 4, $"{Figures.Count(comparison.Records)} records, {transport}");
            y += HeadingHeight;
            double longest = comparison.Trials.Max(trial => trial.Median(FormatReport.Total));
            foreach (FormatTrial trial in comparison.Trials)
            {
                AddRow(picture, y, trial, longest);
                y += RowHeight;
            }
        }

        picture.Append("</svg>");
        output.WriteLine(picture.ToString());
    }

    private static void AddRow(StringBuilder picture, int y, FormatTrial trial, double longest)
    {
        AddText(picture, Margin, y + Baseline, FormatComparison.NameOf(trial));
        double x = BarsLeft;
        foreach (FormatReport.Part part in FormatReport.Parts)
        {
            double width = trial.Median(part.Of) / longest * BarsWidth;
            Add(picture, $"""<rect x="{x:0.0}" y="{y}" width="{width:0.0}" height="{BarHeight}" fill="{part.Colour}"/>""");
            x += width;
        }

        double total = trial.Median(FormatReport.Total);
        AddText(picture, (int)x + TextGap, y + Baseline, $"{FormatReport.Time(total)}, {Figures.Bytes(trial.Bytes)}");
    }

    private static void AddText(StringBuilder picture, int x, int y, string text) => Add(picture, $"""<text x="{x}" y="{y}">{Escaped(text)}</text>""");

    private static void AddHeading(StringBuilder picture, int y, string text) =>
        Add(picture, $"""<text x="{Margin}" y="{y}" font-weight="bold">{Escaped(text)}</text>""");

    private static void Add(StringBuilder picture, FormattableString line) => picture.Append(line.ToString(CultureInfo.InvariantCulture)).Append('\n');

    private static string Escaped(string text) => text
        .Replace("&", "&amp;", StringComparison.Ordinal)
        .Replace("<", "&lt;", StringComparison.Ordinal)
        .Replace(">", "&gt;", StringComparison.Ordinal);
}
