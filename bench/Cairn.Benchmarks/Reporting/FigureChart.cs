using Cairn.HitRate;

namespace Cairn.Benchmarks.Reporting;

/// <summary>Draws requests per second of a service under load, one bar for each way in which it serves them.</summary>
internal static class FigureChart
{
    private const int BarsLeft = 160;
    private const int BarsWidth = 270;
    private const int BarHeight = 18;
    private const int Step = 26;

    public static string ToSvg(string title, string source, IReadOnlyList<ServiceFigure> figures)
    {
        var picture = new Picture(title, "Longer is better. Then p50 and p99, and database queries per request.");
        double most = figures.Max(figure => figure.RequestsPerSecond);
        foreach (ServiceFigure figure in figures)
        {
            double length = Math.Max(1, BarsWidth * figure.RequestsPerSecond / most);
            string value = Picture.Invariant(
                $"{figure.RequestsPerSecond:#,0}; {figure.MedianMs:0.0}, {figure.TailMs:0.0} ms; {figure.QueriesPerRequest:0.##}");
            picture.Text(BarsLeft - 10, picture.Y + 14, figure.Subject, "label");
            picture.Bar(BarsLeft, picture.Y, length, BarHeight, KindOf(figure));
            picture.Text(BarsLeft + length + 8, picture.Y + 14, value, "value");
            picture.Describe($"{figure.Subject}: {value}.");
            picture.Y += Step;
        }

        picture.Y += 24;
        return picture.ToSvg([source]);
    }

    // One colour each for paths with a cache, paths that query the database, and the constant answer.
    private static string KindOf(ServiceFigure figure) =>
        figure.QueriesPerRequest > 0.5 ? "peer" : figure.Subject == "constant" ? "fourth" : "own";
}
