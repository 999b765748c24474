using System.Globalization;
using System.Text;

namespace Cairn.Tests;

/// <summary>Increments and decrements of numbers.</summary>
public sealed class IncrementTests : StoreTest
{
    [Fact]
    public void Number_counts_up_and_down_as_readable_text()
    {
        Cache.Set("n", "41"u8, TimeSpan.FromSeconds(10), flags: 3);

        Assert.Equal(WriteStatus.Stored, Cache.Increment("n", 1, out long value));
        Assert.Equal(42, value);
        Assert.Equal(WriteStatus.Stored, Cache.Increment("n", -43, out value));
        Assert.Equal(-1, value);
        Assert.Equal("-1", Cache.GetString("n"));
        Cache.TryGetInfo("n", out EntryInfo info);
        Assert.Equal(3u, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(10), info.ExpiresAt);
    }

    [Fact]
    public void Missing_number_is_reported_or_begins_with_the_initial_value()
    {
        Assert.Equal(WriteStatus.NotFound, Cache.Increment("n", 5, out long value));
        Assert.Equal(0, value);

        Assert.Equal(
            WriteStatus.Stored,
            Cache.Increment("n", 5, out value, initialValue: 100, expiration: TimeSpan.FromSeconds(1)));
        Assert.Equal(100, value);
        Assert.Equal(WriteStatus.Stored, Cache.Increment("n", 5, out value, initialValue: 100));
        Assert.Equal(105, value);

        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(WriteStatus.NotFound, Cache.Increment("n", 5, out _));
    }

    [Theory]
    [InlineData(long.MaxValue, 1)]
    [InlineData(long.MaxValue, long.MaxValue)]
    [InlineData(long.MinValue, -1)]
    [InlineData(-1, long.MinValue)]
    public void Sum_beyond_64_bits_is_an_overflow_and_changes_nothing(long number, long delta)
    {
        Cache.Set("n", Text(number));

        Assert.Equal(WriteStatus.Overflow, Cache.Increment("n", delta, out long value));

        Assert.Equal(0, value);
        Assert.Equal(number.ToString(CultureInfo.InvariantCulture), Cache.GetString("n"));
    }

    [Theory]
    [InlineData(long.MaxValue, 0)]
    [InlineData(long.MaxValue, long.MinValue)]
    [InlineData(long.MinValue, long.MaxValue)]
    [InlineData(long.MaxValue - 1, 1)]
    [InlineData(long.MinValue + 1, -1)]
    public void Sum_at_the_edges_of_64_bits_is_exact(long number, long delta)
    {
        Cache.Set("n", Text(number));

        Assert.Equal(WriteStatus.Stored, Cache.Increment("n", delta, out long value));

        Assert.Equal(number + delta, value);
        Assert.Equal((number + delta).ToString(CultureInfo.InvariantCulture), Cache.GetString("n"));
    }

    [Theory]
    [InlineData("")]
    [InlineData("x")]
    [InlineData("12x")]
    [InlineData("1.5")]
    [InlineData("1 ")]
    [InlineData("99999999999999999999")]
    [InlineData("9223372036854775808")]
    [InlineData("000000000000000000000000000001")]
    public void Value_that_is_no_number_of_64_bits_stays_as_it_is(string text)
    {
        Cache.Set("n", Encoding.UTF8.GetBytes(text));

        Assert.Equal(WriteStatus.NotANumber, Cache.Increment("n", 1, out long value, initialValue: 7));

        Assert.Equal(0, value);
        Assert.Equal(text, Cache.GetString("n"));
    }

    [Fact]
    public void Large_value_is_no_number()
    {
        Cache.Set("n", new byte[300_000]);

        Assert.Equal(WriteStatus.NotANumber, Cache.Increment("n", 1, out _));
    }

    [Fact]
    public async Task Concurrent_increments_all_count()
    {
        Cache.Set("n", "0"u8);

        await Task.WhenAll(Enumerable.Range(0, 4).Select(thread => OwnThread.Run(() =>
        {
            for (int i = 0; i < 1000; i++)
            {
                Assert.Equal(WriteStatus.Stored, Cache.Increment("n", 1, out _));
            }
        })));

        Assert.Equal("4000", Cache.GetString("n"));
    }

    private static byte[] Text(long number) => Encoding.ASCII.GetBytes(number.ToString(CultureInfo.InvariantCulture));
}
