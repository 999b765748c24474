using System.Globalization;

namespace Cairn.Protocol;

public class DoubleTextTests
{
    // The expected text is that of printf("%.17g").
    [Theory]
    [InlineData(0.0, "0")]
    [InlineData(-0.0, "-0")]
    [InlineData(1.0, "1")]
    [InlineData(-1.5, "-1.5")]
    [InlineData(0.1, "0.10000000000000001")]
    [InlineData(3.14, "3.1400000000000001")]
    [InlineData(100.25, "100.25")]
    [InlineData(123456789.125, "123456789.125")]
    [InlineData(0.0001, "0.0001")]
    [InlineData(0.00012345678901234567, "0.00012345678901234567")]
    [InlineData(0.00001, "1.0000000000000001e-05")]
    [InlineData(1e16, "10000000000000000")]
    [InlineData(99999999999999984.0, "99999999999999984")]
    [InlineData(1e17, "1e+17")]
    [InlineData(1e20, "1e+20")]
    [InlineData(1.5e300, "1.5000000000000001e+300")]
    [InlineData(-1.7976931348623157e308, "-1.7976931348623157e+308")]
    [InlineData(5e-324, "4.9406564584124654e-324")]
    [InlineData(double.PositiveInfinity, "inf")]
    [InlineData(double.NegativeInfinity, "-inf")]
    [InlineData(double.NaN, "nan")]
    public void Number_is_written_with_17_digits(double value, string expected)
    {
        Span<byte> text = stackalloc byte[DoubleText.MaxBytes];

        Assert.Equal(expected, Latin.Text(text[..DoubleText.Format(value, text)]));
    }

    [Fact]
    public void Number_that_was_written_is_read_back_as_itself()
    {
        var random = new Random(1);
        Span<byte> text = stackalloc byte[DoubleText.MaxBytes];
        for (int i = 0; i < 20_000; i++)
        {
            double value = BitConverter.Int64BitsToDouble(random.NextInt64(long.MinValue, long.MaxValue));

            var written = text[..DoubleText.Format(value, text)];

            Assert.True(DoubleText.TryParse(written, out double read));
            Assert.Equal(value, read);
        }
    }

    [Theory]
    [InlineData("1", 1.0)]
    [InlineData("+1.5", 1.5)]
    [InlineData("-.5", -0.5)]
    [InlineData("5.", 5.0)]
    [InlineData("1e3", 1000.0)]
    [InlineData("1E-3", 0.001)]
    [InlineData("1e400", double.PositiveInfinity)]
    [InlineData("-Inf", double.NegativeInfinity)]
    [InlineData("infinity", double.PositiveInfinity)]
    [InlineData("NAN", double.NaN)]
    public void Number_is_read(string text, double expected)
    {
        Assert.True(DoubleText.TryParse(Latin.Bytes(text), out double value), text);
        Assert.Equal(expected, value);
    }

    [Theory]
    [InlineData("")]
    [InlineData("+")]
    [InlineData(".")]
    [InlineData("e5")]
    [InlineData("1e")]
    [InlineData(" 1")]
    [InlineData("1 ")]
    [InlineData("1,5")]
    [InlineData("1_5")]
    [InlineData("--1")]
    [InlineData("+-1")]
    [InlineData("0x10")]
    [InlineData("in")]
    [InlineData("1\0")]
    public void Text_that_is_not_exactly_a_number_is_refused(string text) =>
        Assert.False(DoubleText.TryParse(Latin.Bytes(text), out _), text);

    [Fact]
    public void Culture_does_not_matter()
    {
        var culture = CultureInfo.CurrentCulture;
        try
        {
            CultureInfo.CurrentCulture = new CultureInfo("de-DE") { NumberFormat = { NumberDecimalSeparator = ",", NegativeSign = "~" } };
            Span<byte> text = stackalloc byte[DoubleText.MaxBytes];

            Assert.Equal("-1.5", Latin.Text(text[..DoubleText.Format(-1.5, text)]));
            Assert.True(DoubleText.TryParse("-1.5"u8, out double value));
            Assert.Equal(-1.5, value);
        }
        finally
        {
            CultureInfo.CurrentCulture = culture;
        }
    }
}
