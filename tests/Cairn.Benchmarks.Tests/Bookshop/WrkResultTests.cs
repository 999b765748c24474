using Cairn.Benchmarks.Bookshop;

namespace Cairn.Benchmarks.Tests.Bookshop;

public class WrkResultTests
{
    [Fact]
    public void Result_is_the_line_of_the_script_among_what_wrk_prints()
    {
        var result = WrkResult.Parse("Running 2s test @ http://127.0.0.1:5080/\n  1 threads and 50 connections\nresult 47880 2002257 0 613 4426\n");

        Assert.Equal(new WrkResult(47_880, 2.002257, 613, 4_426), result);
    }

    [Theory]
    [InlineData("result 47880 2002257 3 613 4426", "3 requests failed")]
    [InlineData("unable to connect to 127.0.0.1:5080 Connection refused", "Connection refused")]
    [InlineData("", "no result")]
    public void Failed_requests_and_a_missing_result_are_errors_that_say_so(string output, string expected)
    {
        var error = Assert.Throws<InvalidDataException>(() => WrkResult.Parse(output));

        Assert.Contains(expected, error.Message, StringComparison.Ordinal);
    }
}
