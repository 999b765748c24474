using Cairn.Benchmarks.Server;

namespace Cairn.Benchmarks.Tests.Server;

public class LoadResultTests
{
    private const string Line =
        "operations=1000 seconds=2.000000 server_cpu_seconds=0.500000 p50_us=40.5 p99_us=90.0 p999_us=120.0 max_us=900.1 failures=0\n";

    [Fact]
    public void Cost_of_an_operation_is_what_the_span_cost_by_the_operations_in_it()
    {
        var sample = LoadResult.Parse(Line).ToSample();

        Assert.Equal((500_000.0, 2_000_000.0), (sample.CpuNs, sample.WallNs));
        Assert.Equal((40_500.0, 90_000.0), (sample.MedianLatencyNs, sample.TailLatencyNs));
    }

    [Theory]
    [InlineData("")]
    [InlineData("operations=1000 seconds=2.0")]
    [InlineData("operations=many seconds=2.0 server_cpu_seconds=0.5 p50_us=40 p99_us=90 failures=0")]
    public void Line_without_a_figure_is_refused_with_its_text(string line)
    {
        var refusal = Assert.Throws<InvalidDataException>(() => LoadResult.Parse(line));

        Assert.EndsWith(line, refusal.Message, StringComparison.Ordinal);
    }
}
