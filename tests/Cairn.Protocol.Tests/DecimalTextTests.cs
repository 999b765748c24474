using System.Globalization;

namespace Cairn.Protocol;

public class DecimalTextTests
{
    [Theory]
    [InlineData("0", 0)]
    [InlineData("7", 7)]
    [InlineData("-7", -7)]
    [InlineData("10", 10)]
    [InlineData("1234567890123456789", 1234567890123456789)]
    [InlineData("9223372036854775807", long.MaxValue)]
    [InlineData("-9223372036854775808", long.MinValue)]
    public void Number_is_read_and_written_as_the_same_text(string text, long expected)
    {
        Span<byte> written = stackalloc byte[DecimalText.MaxInt64Bytes];

        Assert.True(DecimalText.TryParseInt64(Latin.Bytes(text), out long value));
        Assert.Equal(expected, value);
        Assert.Equal(text, Latin.Text(written[..DecimalText.Format(value, written)]));
    }

    [Theory]
    [InlineData("")]
    [InlineData("-")]
    [InlineData("+1")]
    [InlineData("-0")]
    [InlineData("00")]
    [InlineData("01")]
    [InlineData("-01")]
    [InlineData(" 1")]
    [InlineData("1 ")]
    [InlineData("1x")]
    [InlineData("x")]
    [InlineData("/")]
    [InlineData(":")]
    [InlineData("--1")]
    [InlineData("1.0")]
    [InlineData("9223372036854775808")]
    [InlineData("-9223372036854775809")]
    [InlineData("99999999999999999999")]
    [InlineData("111111111111111111111")]
    public void Text_that_is_not_exactly_a_number_is_refused(string text)
    {
        Assert.False(DecimalText.TryParseInt64(Latin.Bytes(text), out long value));
        Assert.Equal(0, value);
    }

    [Theory]
    [InlineData("18446744073709551615", true)]
    [InlineData("18446744073709551616", false)]
    [InlineData("18446744073709551620", false)]
    [InlineData("99999999999999999999", false)]
    [InlineData("1844674407370955161x", false)]
    [InlineData("-1", false)]
    public void Unsigned_number_ends_at_64_bits(string text, bool expected) =>
        Assert.Equal(expected, DecimalText.TryParseUInt64(Latin.Bytes(text), out _));

    [Fact]
    public void Numbers_around_each_power_of_ten_survive()
    {
        Span<byte> text = stackalloc byte[DecimalText.MaxUInt64Bytes];
        for (ulong power = 1; power <= 10_000_000_000_000_000_000 && power != 0; power = power > ulong.MaxValue / 10 ? 0 : power * 10)
        {
            foreach (ulong value in (ulong[])[power - 1, power, power + 1])
            {
                var written = text[..DecimalText.Format(value, text)];

                Assert.Equal(value.ToString(CultureInfo.InvariantCulture), Latin.Text(written));
                Assert.True(DecimalText.TryParseUInt64(written, out ulong read));
                Assert.Equal(value, read);
            }
        }
    }

    [Fact]
    public void Destination_that_is_too_short_is_refused()
    {
        Assert.Throws<ArgumentException>(() => DecimalText.Format(0UL, []));
        Assert.Throws<ArgumentException>(() => DecimalText.Format(-1, []));
        Assert.Throws<ArgumentException>(() => DecimalText.Format(-1, new byte[1]));
        Assert.Throws<ArgumentException>(() => DecimalText.Format(100UL, new byte[2]));
    }
}
