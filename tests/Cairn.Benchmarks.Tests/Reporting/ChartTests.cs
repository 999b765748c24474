using System.Xml.Linq;
using Cairn.Benchmarks.Reporting;

namespace Cairn.Benchmarks.Tests.Reporting;

public sealed class ChartTests
{
    private static readonly Dictionary<string, string> NoLabels = [];

    [Fact]
    public void Bars_are_as_long_as_the_times_and_peers_are_named()
    {
        var chart = new Chart("Title <1>");
        chart.Add(ReportOf("server", new ReportRow("get", "Cairn", "memcached", 500, null, 0, 4, null, null)), "get", "A get", NoLabels);

        var picture = XDocument.Parse(chart.ToSvg());

        var bars = picture.Descendants().Where(e => (string?)e.Attribute("class") is "own" or "peer").Select(e => (double)e.Attribute("width")!).ToList();
        Assert.Equal(2, bars.Count);
        Assert.Equal(4, bars[1] / bars[0], 0.01);
        var texts = picture.Descendants().Where(e => e.Name.LocalName == "text").Select(e => e.Value).ToList();
        Assert.Equal(["Title <1>", "A get", "Cairn", "500 ns", "memcached", "2.00 µs, 4.0 times"], texts[..^2].Where(text => !text.Contains("rocessor", StringComparison.Ordinal)));
        Assert.Equal(["bench/run x on 2026-01-02", "A processor"], texts[^2..]);
    }

    [Fact]
    public void Ratio_of_times_is_turned_round()
    {
        var chart = new Chart("Title");
        chart.Add(ReportOf("store", new ReportRow("get", "Cairn", "peer", 50, null, 0, 0.5, null, null)), "get", "A get", NoLabels);

        Assert.Contains("100 ns, 2.0 times", chart.ToSvg(), StringComparison.Ordinal);
    }

    [Fact]
    public void Case_that_was_not_measured_is_named()
    {
        var error = Assert.Throws<InvalidDataException>(() => new Chart("Title").Add(ReportOf("store"), "get", "A get", NoLabels));

        Assert.Contains("'get'", error.Message, StringComparison.Ordinal);
    }

    private static Report ReportOf(string area, params ReportRow[] rows) => new(area, "2026-01-02", "abc", "A processor", "bench/run x", rows);
}
