using System.Globalization;
using System.Net;
using System.Text;

namespace Cairn.HitRate;

/// <summary>Draws curves over a logarithmic axis of capacities, in percent, as SVG.</summary>
internal sealed class CurveChart(string title)
{
    private const int Width = 860;
    private const int Height = 460;
    private const int Left = 64;
    private const int Right = 680;
    private const int Top = 50;
    private const int Bottom = 410;
    private const double FromPercent = 0.1;
    private const double ToPercent = 100;
    private const int RatioStep = 20;

    private static readonly string[] _colours = ["#8a8f98", "#d08700", "#2b7fff", "#c10007", "#4a5565", "#7f22fe"];

    private readonly StringBuilder _curves = new();
    private int _count;

    public void Add(string name, IReadOnlyList<(double Capacity, double Ratio)> points)
    {
        var colour = _colours[_count % _colours.Length];
        var path = string.Join(' ', points.Select(point => Invariant($"{X(point.Capacity):0.#},{Y(point.Ratio):0.#}")));
        _curves.Append(Invariant($"""<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>""")).Append('\n');
        _curves.Append(Invariant($"""<rect x="{Right + 16}" y="{Top + (24 * _count)}" width="14" height="4" fill="{colour}"/>""")).Append('\n');
        _curves.Append(Label(Right + 36, Top + (24 * _count) + 7, name, "start")).Append('\n');
        _count++;
    }

    public string ToSvg()
    {
        var svg = new StringBuilder();
        svg.Append(Invariant(
            $"""<svg xmlns="http://www.w3.org/2000/svg" width="{Width}" height="{Height}" viewBox="0 0 {Width} {Height}" role="img" aria-label="{WebUtility.HtmlEncode(title)}">"""));
        svg.Append(Picture.Style).Append('\n');
        svg.Append(Invariant($"""<rect width="{Width}" height="{Height}" rx="10" class="page"/>""")).Append('\n').Append(Label(Left, 28, title, "start")).Append('\n');
        for (var ratio = 0; ratio <= 100; ratio += RatioStep)
        {
            svg.Append(Invariant($"""<line x1="{Left}" x2="{Right}" y1="{Y(ratio):0.#}" y2="{Y(ratio):0.#}" class="grid"/>"""));
            svg.Append(Label(Left - 8, Y(ratio) + 4, Invariant($"{ratio} %"), "end")).Append('\n');
        }

        foreach (var capacity in (double[])[0.1, 1, 10, 100])
        {
            svg.Append(Invariant($"""<line x1="{X(capacity):0.#}" x2="{X(capacity):0.#}" y1="{Top}" y2="{Bottom}" class="grid"/>"""));
            svg.Append(Label(X(capacity), Bottom + 20, Invariant($"{capacity} %"), "middle")).Append('\n');
        }

        return svg.Append(_curves).Append("</svg>\n").ToString();
    }

    private static double X(double capacity) =>
        Left + ((Right - Left) * Math.Log(Math.Clamp(capacity, FromPercent, ToPercent) / FromPercent) / Math.Log(ToPercent / FromPercent));

    private static double Y(double ratio) => Bottom - ((Bottom - Top) * ratio / 100);

    private static string Label(double x, double y, string text, string anchor) =>
        Invariant($"""<text x="{x:0.#}" y="{y:0.#}" text-anchor="{anchor}">{WebUtility.HtmlEncode(text)}</text>""");

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
