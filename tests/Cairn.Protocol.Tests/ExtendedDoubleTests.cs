namespace Cairn.Protocol;

public class ExtendedDoubleTests
{
    // The expected text is the reply of INCRBYFLOAT of Redis 7.0.15 on x86-64.
    [Theory]
    [InlineData("10.5", "0.1", "10.6")]
    [InlineData("3.0e3", "200", "3200")]
    [InlineData("0", "1e-5", "0.00001")]
    [InlineData("0.1", "0.2", "0.3")]
    [InlineData("1.17", "2.34", "3.51")]
    [InlineData("1", "1e-17", "1.00000000000000001")]
    [InlineData("1", "1e-18", "1")]
    [InlineData("1e19", "0.1", "10000000000000000000")]
    [InlineData("1e20", "1", "100000000000000000000")]
    [InlineData("99999999999999999999.99999", "1", "100000000000000000000")]
    [InlineData("123456789012345678901234567890", "0.1", "123456789012345678899921813504")]
    [InlineData("0.00000000000000001", "0", "0.00000000000000001")]
    [InlineData("0.000000000000000005", "0", "0")]
    [InlineData("0.0000000000000000051", "0", "0.00000000000000001")]
    [InlineData("3", "-3.0000000000000000001", "0")]
    [InlineData("-1", "1", "0")]
    [InlineData("-0", "-0", "0")]
    [InlineData("-.5", "0", "-0.5")]
    [InlineData(".5", "5.", "5.5")]
    [InlineData("+.5e1", "0", "5")]
    [InlineData("1e+2", "1", "101")]
    [InlineData("0x1p3", "1", "9")]
    [InlineData("0X10", "1", "17")]
    [InlineData("0x1.8", "1", "2.5")]
    [InlineData("0x.8p1", "1", "2")]
    [InlineData("5e-324", "0", "0")]
    [InlineData("1e-4940", "0", "0")]
    [InlineData("9223372036854775807", "1", "9223372036854775808")]
    [InlineData("9223372036854775808", "-0x1p-2", "9223372036854775808")]
    [InlineData("9223372036854775808", "-0x1.0000000000000002p-2", "9223372036854775807.5")]
    [InlineData("18446744073709551615", "0", "18446744073709551615")]
    [InlineData("18446744073709551615", "1", "18446744073709551616")]
    public void Sum_has_the_digits_that_Redis_gives(string left, string right, string expected)
    {
        Assert.Equal(expected, Add(left, right));
        Assert.Equal(expected, Add(right, left));
    }

    [Theory]
    [InlineData("")]
    [InlineData(" 1")]
    [InlineData("1 ")]
    [InlineData("1e")]
    [InlineData("1e+")]
    [InlineData("1_0")]
    [InlineData(".")]
    [InlineData("+")]
    [InlineData("0x")]
    [InlineData("0x.")]
    [InlineData("0xg")]
    [InlineData("1p3")]
    [InlineData("1.2.3")]
    [InlineData("nan")]
    [InlineData("1e5000")]
    [InlineData("-1e999999999999")]
    [InlineData("1e-4951")]
    [InlineData("1e-999999999999")]
    [InlineData("infinit")]
    public void Text_that_is_not_exactly_a_number_in_range_is_refused(string text) =>
        Assert.False(ExtendedDouble.TryParse(Latin.Bytes(text), out _), text);

    [Theory]
    [InlineData("inf", "1")]
    [InlineData("-INFINITY", "1")]
    [InlineData("inf", "-inf")]
    [InlineData("1e4932", "1e4932")]
    public void Sum_beyond_the_range_is_not_finite(string left, string right)
    {
        Assert.Null(Add(left, right));
        Assert.Null(Add(right, left));
    }

    [Fact]
    public void Largest_number_is_written_in_full()
    {
        string text = Add("1.18973149535723176502e4932", "0")!;

        Assert.Equal(4933, text.Length);
        Assert.StartsWith("11897314953572317650212638530309702", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Longest_number_that_Redis_reads_is_read()
    {
        Assert.Equal("1", Add(new string('0', 5118) + "1", "0"));
        Assert.False(ExtendedDouble.TryParse(Latin.Bytes(new string('0', 5119) + "1"), out _));
    }

    [Fact]
    public void Sums_of_doubles_agree_with_exact_sums_where_those_fit()
    {
        // The sum of two 32-bit numbers, one of them scaled by up to 2^31, fits into 64 bits. So no sum is rounded.
        var random = new Random(1);
        for (int i = 0; i < 20_000; i++)
        {
            long left = random.NextInt64(int.MinValue, int.MaxValue);
            long right = random.NextInt64(int.MinValue, int.MaxValue);
            int scale = random.Next(32);

            string? sum = Add($"{left << scale}", $"{right}");

            Assert.Equal($"{(left << scale) + right}", sum);
        }
    }

    [Fact]
    public void Number_that_is_not_finite_has_no_text()
    {
        var infinite = Parse("inf");

        Assert.Throws<InvalidOperationException>(() => infinite.Format(new byte[64]));
    }

    [Fact]
    public void Destination_that_is_too_short_is_refused()
    {
        var small = Parse("-1.25");
        var large = Parse("-1e30");

        for (int length = 0; length < 5; length++)
        {
            Assert.Throws<ArgumentException>(() => small.Format(new byte[length]));
            Assert.Throws<ArgumentException>(() => large.Format(new byte[length]));
        }

        Assert.Equal(5, small.Format(new byte[5]));
    }

    private static ExtendedDouble Parse(string text)
    {
        Assert.True(ExtendedDouble.TryParse(Latin.Bytes(text), out var value), text);
        return value;
    }

    private static string? Add(string left, string right)
    {
        var sum = ExtendedDouble.Add(Parse(left), Parse(right));
        if (!sum.IsFinite)
        {
            return null;
        }

        var text = new byte[ExtendedDouble.MaxTextBytes];
        return Latin.Text(text.AsSpan(0, sum.Format(text)));
    }
}
