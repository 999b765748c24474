using System.Globalization;
using System.Xml.Linq;
using Cairn.Benchmarks.Reporting;

namespace Cairn.Benchmarks.Tests.Reporting;

public class FigureChartTests
{
    [Fact]
    public void Bars_are_as_long_as_their_figures_and_carry_them_as_text()
    {
        ServiceFigure[] figures = [new("constant", 40_000, 0.6, 1.5, 12, 0, 1_600), new("a < b", 10_000, 2, 5, 50, 1, 9_000)];

        var chart = XDocument.Parse(FigureChart.ToSvg("Requests & more", "on a machine", figures));

        var bars = Named(chart, "rect").Where(bar => bar.Attribute("x") is not null).Select(bar => Number(bar, "width")).ToList();
        Assert.Equal(4, bars[0] / bars[1], tolerance: 0.05);
        var texts = Named(chart, "text").Select(text => text.Value).ToList();
        Assert.Contains("Requests & more", texts);
        Assert.Contains("a < b", texts);
        Assert.Contains(texts, text => text.StartsWith("40,000", StringComparison.Ordinal));
    }

    [Fact]
    public void Nothing_reaches_over_the_edge()
    {
        var chart = XDocument.Parse(FigureChart.ToSvg("title", "footer", [new("constant", 1, 0, 0, 0, 0, 0)]));
        var width = Number(chart.Root!, "width");

        Assert.All(Named(chart, "rect"), bar => Assert.InRange(Number(bar, "width") + ((double?)bar.Attribute("x") ?? 0), 0, width));
    }

    private static IEnumerable<XElement> Named(XDocument chart, string name) => chart.Descendants().Where(element => element.Name.LocalName == name);

    private static double Number(XElement element, string name) => double.Parse(element.Attribute(name)!.Value, CultureInfo.InvariantCulture);
}
