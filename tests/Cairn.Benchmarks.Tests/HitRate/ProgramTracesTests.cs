using Cairn.HitRate.Traces;

namespace Cairn.Benchmarks.Tests.HitRate;

// Documents quote hit ratios of these traces, so a seed always has to generate the same ones.
public class ProgramTracesTests
{
    [Theory]
    [InlineData("examine", 12_787, 1_133, 96_992_588)]
    [InlineData("compile", 8_545, 1_223, -1_656_940_641)]
    [InlineData("retrieve", 7_023, 1_181, -1_942_114_738)]
    [InlineData("join", 16_249, 713, 1_981_934_099)]
    [InlineData("pages", 64_476, 3_931, 1_258_979_702)]
    [InlineData("files", 42_655, 5_522, 1_410_040_191)]
    [InlineData("loops", 8_339, 1_358, -370_298_991)]
    [InlineData("recency", 42_817, 2_045, -647_257_159)]
    [InlineData("phases", 26_710, 3_436, -519_985_454)]
    [InlineData("two-programs", 25_053, 918, -924_651_299)]
    [InlineData("four-programs", 48_514, 5_533, 1_772_795_076)]
    public void Seed_six_generates_the_same_requests_of_each_program_on_all_machines(string name, int requests, int largestCapacity, int checksum)
    {
        var trace = ProgramTraces.Of(6).Single(trace => trace.Name == name);

        Assert.Equal((requests, largestCapacity), (trace.Requests.Length, trace.Capacities[^1]));
        Assert.Equal(checksum, trace.Requests.Aggregate(0, (sum, key) => unchecked((sum * 31) + key)));
    }

    [Fact]
    public void Programs_are_eleven_short_runs_at_four_capacities_which_differ_from_seed_to_seed()
    {
        var traces = ProgramTraces.Of(1).ToArray();

        Assert.Equal(11, traces.Length);
        Assert.All(traces, trace => Assert.Equal(4, trace.Capacities.Count));
        Assert.All(traces, trace => Assert.InRange(trace.Requests.Length, 5_000, 150_000));
        Assert.All(traces.Zip(ProgramTraces.Of(3)), pair => Assert.NotEqual(pair.First.Requests, pair.Second.Requests));
    }
}
