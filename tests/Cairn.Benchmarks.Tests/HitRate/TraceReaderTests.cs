using System.Text;
using Cairn.HitRate.Traces;

namespace Cairn.Benchmarks.Tests.HitRate;

public class TraceReaderTests
{
    [Fact]
    public void A_range_of_blocks_is_a_request_for_each_of_them()
    {
        var trace = Read("10 3 0 0\n12 2 0 1\n", TraceFormat.BlockRanges);

        Assert.Equal([0, 1, 2, 2, 3], trace.Requests);
        Assert.Equal(4, trace.DistinctKeys);
    }

    [Fact]
    public void Timed_objects_are_keys_with_sizes()
    {
        var trace = Read("1 500 68\n2 7 7454\n3 500 12\n", TraceFormat.TimedObjects);

        Assert.Equal([0, 1, 0], trace.Requests);
        Assert.Equal([12, 7454], trace.Sizes);
    }

    [Fact]
    public void Line_is_a_key_with_an_optional_size()
    {
        var trace = Read("user:1 100\n*\nbook:42\n\nuser:1\n", TraceFormat.Lines);

        Assert.Equal([0, 1, 0], trace.Requests);
        Assert.Equal([100, 1], trace.Sizes);
    }

    [Fact]
    public void Trace_without_sizes_has_none() => Assert.Empty(Read("1\n2\n", TraceFormat.Lines).Sizes);

    [Theory]
    [InlineData("a b")]
    [InlineData("a -1")]
    [InlineData("a 1 2")]
    public void Line_with_something_else_than_a_size_is_an_error_that_names_it(string line) =>
        Assert.StartsWith("Line 1:", Assert.Throws<InvalidDataException>(() => Read(line, TraceFormat.Lines)).Message, StringComparison.Ordinal);

    [Fact]
    public void Traces_one_after_the_other_keep_their_keys_apart()
    {
        var first = new Trace("first", [0, 1, 0], 2);
        var second = new Trace("second", [0], 1);

        var trace = Trace.Concat("both", [first, second, first]);

        Assert.Equal([0, 1, 0, 2, 0, 1, 0], trace.Requests);
        Assert.Equal(3, trace.DistinctKeys);
    }

    [Fact]
    public void Binary_keys_are_big_endian()
    {
        byte[] bytes = [0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

        var trace = TraceReader.Read("test", new MemoryStream(bytes), TraceFormat.BigEndianKeys);

        Assert.Equal([0, 1, 0], trace.Requests);
    }

    [Fact]
    public void Short_binary_keys_are_big_endian()
    {
        byte[] bytes = [0, 0, 0, 1, 0xFF, 0, 0, 0, 0, 0, 0, 1];

        var trace = TraceReader.Read("test", new MemoryStream(bytes), TraceFormat.BigEndianShortKeys);

        Assert.Equal([0, 1, 0], trace.Requests);
    }

    [Fact]
    public void A_trace_cut_inside_a_key_is_an_error() =>
        Assert.Throws<InvalidDataException>(
            () => TraceReader.Read("test", new MemoryStream(new byte[12]), TraceFormat.BigEndianKeys));

    [Theory]
    [InlineData("1 x 5")]
    [InlineData("1")]
    [InlineData("")]
    public void A_line_that_is_no_request_is_an_error_that_names_it(string line)
    {
        var error = Assert.Throws<InvalidDataException>(() => Read($"1 2 3\n{line}\n", TraceFormat.TimedObjects));

        Assert.StartsWith("Line 2:", error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(1, 3)]
    [InlineData(10, 39)]
    [InlineData(0.001, 1)]
    public void A_capacity_is_a_share_of_the_distinct_keys_and_at_least_one(double percent, int capacity) =>
        Assert.Equal(capacity, new Trace("test", [], DistinctKeys: 390).CapacityAt(percent));

    private static Trace Read(string text, TraceFormat format) =>
        TraceReader.Read("test", new MemoryStream(Encoding.ASCII.GetBytes(text)), format);
}
