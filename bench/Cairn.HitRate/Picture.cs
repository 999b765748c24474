using System.Globalization;
using System.Net;
using System.Text;

namespace Cairn.HitRate;

/// <summary>
/// An SVG picture in the style of the documents. It follows the light or dark theme of the page that shows it, and has its content as alternative text.
/// A page shows it as an image, so the styles are in the picture.
/// </summary>
internal sealed class Picture(string title, string subtitle)
{
    /// <summary>The width in pixels. A phone shows a picture of this width with text that can still be read.</summary>
    public const int Width = 660;

    /// <summary>The styles of all charts, for a light and a dark page.</summary>
    public const string Style = """
        <style>
        .page { fill: #f6f8f7; } .own, .first { fill: #12645c; } .peer, .second { fill: #b9c8c3; } .third { fill: #8fa39d; } .fourth { fill: #4f9e90; }
        text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 14px; fill: #1c2524; }
        .title { font-size: 18px; font-weight: 600; } .heading { font-weight: 600; } .label { text-anchor: end; }
        .soft, .source, .value { fill: #55625f; } .source { font-size: 11px; } .grid { stroke: #d5dedb; }
        @media (prefers-color-scheme: dark) {
        .page { fill: #1a2220; } .own, .first { fill: #3fb3a3; } .peer, .second { fill: #4a5a56; } .third { fill: #6c7f79; } .fourth { fill: #97dccf; }
        text { fill: #e3ebe8; } .soft, .source, .value { fill: #a3b3ae; } .grid { stroke: #3a4844; }
        }
        </style>
        """;

    // Only pictures with curves have these.
    private const string CurveStyle = """
        <style>
        polyline[class] { fill: none; stroke-width: 2; } polyline.first { stroke: #12645c; } polyline.second { stroke: #8a9a95; } polyline.fourth { stroke: #4f9e90; }
        polyline.grid { stroke-width: 1; stroke: #d5dedb; }
        @media (prefers-color-scheme: dark) {
        polyline.first { stroke: #3fb3a3; } polyline.second { stroke: #6c7f79; } polyline.fourth { stroke: #97dccf; } polyline.grid { stroke: #3a4844; }
        }
        </style>

        """;

    private const int Margin = 20;
    private const int SourceChars = 108;

    private readonly StringBuilder _content = new();
    private readonly List<string> _description = [];

    /// <summary>The y coordinate at which the next part begins.</summary>
    public int Y { get; set; } = 86;

    public void Heading(string text) => Text(Margin, Y, text, "heading");

    public void Text(double x, double y, string text, string kind) =>
        _content.Append(Invariant($"""<text x="{x:0.#}" y="{y:0.#}" class="{kind}">{WebUtility.HtmlEncode(text)}</text>""")).Append('\n');

    public void Bar(double x, double y, double width, int height, string kind) =>
        _content.Append(Invariant($"""<rect x="{x:0.#}" y="{y:0.#}" width="{width:0.#}" height="{height}" rx="2" class="{kind}"/>""")).Append('\n');

    public void Curve(IReadOnlyList<(double X, double Y)> points, string kind)
    {
        if (!_content.ToString().StartsWith(CurveStyle, StringComparison.Ordinal))
        {
            _content.Insert(0, CurveStyle);
        }

        string path = string.Join(' ', points.Select(point => Invariant($"{point.X:0.#},{point.Y:0.#}")));
        _content.Append(Invariant($"""<polyline points="{path}" class="{kind}"/>""")).Append('\n');
    }

    /// <summary>Adds a sentence to the alternative text.</summary>
    public void Describe(string sentence) => _description.Add(sentence);

    /// <summary>Returns the picture, with the sources of its figures at the bottom.</summary>
    public string ToSvg(IEnumerable<string> sources)
    {
        int y = Y;
        foreach (string line in sources.SelectMany(Wrapped))
        {
            Text(Margin, y, line, "source");
            y += 16;
        }

        int height = y + 6;
        return Invariant($$"""
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{Width}} {{height}}" width="{{Width}}" height="{{height}}" role="img" aria-labelledby="title description">
            <title id="title">{{WebUtility.HtmlEncode(title)}}</title>
            <desc id="description">{{WebUtility.HtmlEncode(string.Join(' ', _description))}}</desc>
            {{Style}}
            <rect width="{{Width}}" height="{{height}}" rx="10" class="page"/>
            <text x="{{Margin}}" y="32" class="title">{{WebUtility.HtmlEncode(title)}}</text>
            <text x="{{Margin}}" y="54" class="soft">{{WebUtility.HtmlEncode(subtitle)}}</text>
            {{_content}}</svg>

            """);
    }

    /// <summary>Returns a time with three digits: "82.6 µs".</summary>
    public static string Time(double ns) => ns switch
    {
        < 999.5 => $"{Digits(ns)} ns",
        < 999_500 => $"{Digits(ns / 1e3)} µs",
        _ => $"{Digits(ns / 1e6)} ms",
    };

    /// <summary>Returns a size with three digits: "5.84 KiB".</summary>
    public static string Size(double bytes) => bytes switch
    {
        < 1024 => Invariant($"{bytes:0} B"),
        < 1024 * 1024 => $"{Digits(bytes / 1024)} KiB",
        _ => $"{Digits(bytes / 1024 / 1024)} MiB",
    };

    public static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    private static string Digits(double number) =>
        number.ToString(number switch { < 9.995 => "0.00", < 99.95 => "0.0", _ => "#,0" }, CultureInfo.InvariantCulture);

    private static IEnumerable<string> Wrapped(string text)
    {
        while (text.Length > SourceChars)
        {
            int end = text.LastIndexOf(' ', SourceChars);
            yield return text[..end];
            text = text[(end + 1)..];
        }

        yield return text;
    }
}
