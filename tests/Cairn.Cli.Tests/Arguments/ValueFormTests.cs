using System.Globalization;
using Cairn.Cli.Arguments;

namespace Cairn.Cli.Tests.Arguments;

/// <summary>The forms in which users write durations, sizes and times.</summary>
public sealed class ValueFormTests
{
    [Theory]
    [InlineData("500ms", 0.5)]
    [InlineData("90s", 90)]
    [InlineData("5m", 300)]
    [InlineData("1h", 3600)]
    [InlineData("1h30m", 5400)]
    [InlineData("1.5h", 5400)]
    [InlineData("2d", 172_800)]
    [InlineData("1w", 604_800)]
    [InlineData("0s", 0)]
    [InlineData("2000000d", 172_800_000_000)]
    public void Duration_is_understood(string text, double seconds)
    {
        Assert.True(Duration.TryParse(text, out TimeSpan time));
        Assert.Equal(TimeSpan.FromSeconds(seconds), time);
    }

    [Theory]
    [InlineData("")]
    [InlineData("5")]
    [InlineData("m")]
    [InlineData("5x")]
    [InlineData("5M")]
    [InlineData("-5m")]
    [InlineData("+5m")]
    [InlineData("5 m")]
    [InlineData("5m6")]
    [InlineData("1..5h")]
    [InlineData(".h")]
    [InlineData("1,5h")]
    [InlineData("1e3s")]
    [InlineData("99999999999w")]
    [InlineData("99999999999999999999999999999999999999999999s")]
    public void Text_that_is_no_duration_is_refused(string text)
    {
        Assert.False(Duration.TryParse(text, out _));
    }

    [Theory]
    [InlineData("0", 0)]
    [InlineData("268435456", 268_435_456)]
    [InlineData("17B", 17)]
    [InlineData("256MiB", 268_435_456)]
    [InlineData("256 mib", 268_435_456)]
    [InlineData("256M", 268_435_456)]
    [InlineData("10MB", 10_000_000)]
    [InlineData("1.5GiB", 1_610_612_736)]
    [InlineData("1TiB", 1_099_511_627_776)]
    public void Size_is_understood(string text, long expected)
    {
        Assert.True(ByteSize.TryParse(text, out long bytes));
        Assert.Equal(expected, bytes);
    }

    [Theory]
    [InlineData("")]
    [InlineData("MiB")]
    [InlineData("-1")]
    [InlineData("1XB")]
    [InlineData("1MiBs")]
    [InlineData("0.3B")]
    [InlineData("0.0001KiB")]
    [InlineData("1,000")]
    [InlineData("99999999999TiB")]
    [InlineData("9999999TiB")]
    public void Text_that_is_no_size_is_refused(string text)
    {
        Assert.False(ByteSize.TryParse(text, out _));
    }

    [Theory]
    [InlineData("2030-01-02T03:04:05Z", "2030-01-02T03:04:05.0000000Z")]
    [InlineData("2030-01-02T03:04Z", "2030-01-02T03:04:00.0000000Z")]
    [InlineData("2030-01-02T03:04:05.123Z", "2030-01-02T03:04:05.1230000Z")]
    [InlineData("2030-01-02T03:04:05.1234567Z", "2030-01-02T03:04:05.1234567Z")]
    [InlineData("2030-01-02T03:04:05+02:00", "2030-01-02T01:04:05.0000000Z")]
    [InlineData("2030-01-02T03:04:05-05:30", "2030-01-02T08:34:05.0000000Z")]
    public void Moment_is_understood(string text, string expected)
    {
        Assert.True(Moment.TryParse(text, out DateTimeOffset moment));
        Assert.Equal(expected, moment.UtcDateTime.ToString("O", CultureInfo.InvariantCulture));
    }

    [Theory]
    [InlineData("")]
    [InlineData("Z")]
    [InlineData("tomorrow")]
    [InlineData("2030-01-02")]
    [InlineData("2030-01-02T03:04:05")]
    [InlineData("2030-01-02 03:04:05Z")]
    [InlineData("2030-13-02T03:04:05Z")]
    [InlineData("2030-02-30T03:04:05Z")]
    [InlineData("02/01/2030 03:04:05 +00:00")]
    public void Text_that_is_no_moment_is_refused(string text)
    {
        Assert.False(Moment.TryParse(text, out _));
    }
}
