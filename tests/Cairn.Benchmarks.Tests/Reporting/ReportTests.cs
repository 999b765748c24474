using System.Text;
using System.Text.Json;
using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Reporting;

namespace Cairn.Benchmarks.Tests.Reporting;

public class ReportTests
{
    [Fact]
    public void Report_has_the_agreed_members_and_no_others()
    {
        using var report = Written(new Finding("get", "Cairn", "peer"));

        Assert.Equal(["area", "date", "commit", "machine", "command", "rows"], Names(report.RootElement));
        Assert.Equal(
            ["case", "subject", "against", "cpuNs", "wallNs", "bytesAllocated", "ratio", "goal", "met"],
            Names(report.RootElement.GetProperty("rows")[0]));
    }

    [Fact]
    public void Figures_of_services_are_a_member_where_there_are_any()
    {
        using var target = new MemoryStream();
        new Report("bookshop", "2026-01-01", "0000000", "machine", "command", [])
        {
            Figures = [new ServiceFigure("hybrid", 40_000, 0.6, 1.5, 12, 0, 1_600)],
        }.WriteTo(target);

        using var report = JsonDocument.Parse(target.ToArray());

        Assert.Equal(["area", "date", "commit", "machine", "command", "rows", "figures"], Names(report.RootElement).OrderBy(name => name == "figures"));
        Assert.Equal(
            ["subject", "requestsPerSecond", "medianMs", "tailMs", "cpuUs", "queriesPerRequest", "bytesAllocatedPerRequest"],
            Names(report.RootElement.GetProperty("figures")[0]));
    }

    [Fact]
    public void Row_carries_the_figures_of_the_subject()
    {
        using var report = Written(new Finding("get", "Cairn", "peer")
        {
            Measured = new Sample(CpuNs: 101.239, WallNs: 102, BytesAllocated: 0),
            Peer = new Sample(CpuNs: 500, WallNs: 500, BytesAllocated: 1),
            Ratio = 0.20248,
            Goal = Goal.AtMost(0.62, stretch: 0.5),
        });

        var row = report.RootElement.GetProperty("rows")[0];
        Assert.Equal(101.24, row.GetProperty("cpuNs").GetDouble());
        Assert.Equal(0, row.GetProperty("bytesAllocated").GetDouble());
        Assert.Equal(0.2025, row.GetProperty("ratio").GetDouble());
        Assert.Equal(0.62, row.GetProperty("goal").GetDouble());
        Assert.True(row.GetProperty("met").GetBoolean());
    }

    [Fact]
    public void Value_that_could_not_be_measured_is_null_and_not_met()
    {
        using var report = Written(new Finding("get", "Cairn", "peer") { Goal = Goal.AtMost(1) });

        var row = report.RootElement.GetProperty("rows")[0];
        Assert.Equal(JsonValueKind.Null, row.GetProperty("ratio").ValueKind);
        Assert.False(row.GetProperty("met").GetBoolean());
    }

    [Fact]
    public void Machine_is_described_without_its_name()
    {
        var machine = BenchmarkMachine.DescribeMachine();

        Assert.Contains("core", machine, StringComparison.Ordinal);
        Assert.Contains(".NET", machine, StringComparison.Ordinal);
        Assert.DoesNotContain(Environment.MachineName, machine, StringComparison.OrdinalIgnoreCase);
    }

    private static JsonDocument Written(Finding finding)
    {
        var report = new Report("store", "2026-01-01", "abc", "machine", "bench/run store", [ReportRow.Of(finding)]);
        using var target = new MemoryStream();
        report.WriteTo(target);
        return JsonDocument.Parse(Encoding.UTF8.GetString(target.ToArray()));
    }

    private static IEnumerable<string> Names(JsonElement element) => element.EnumerateObject().Select(member => member.Name);
}
