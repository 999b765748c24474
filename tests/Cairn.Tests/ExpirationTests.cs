namespace Cairn.Tests;

/// <summary>The time at which entries expire.</summary>
public sealed class ExpirationTests : StoreTest
{
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);

    [Fact]
    public void Entry_is_readable_until_its_deadline_and_gone_at_it()
    {
        Cache.Set("book:42", "Dune"u8, TimeSpan.FromSeconds(60));

        Clock.Advance(TimeSpan.FromSeconds(60) - Millisecond);
        Assert.Equal("Dune", Cache.GetString("book:42"));

        Clock.Advance(Millisecond);
        Assert.False(Cache.TryGet("book:42", new byte[8], out int _));
        Assert.False(Cache.Contains("book:42"));
        Assert.False(Cache.TryPin("book:42", out _));
    }

    [Fact]
    public void Time_to_live_is_rounded_up_to_milliseconds()
    {
        Cache.Set("key", "value"u8, TimeSpan.FromTicks(1));

        Assert.True(Cache.Contains("key"));
        Clock.Advance(Millisecond);
        Assert.False(Cache.Contains("key"));
    }

    [Fact]
    public void Absolute_moment_ends_the_entry()
    {
        DateTimeOffset moment = Clock.Now + TimeSpan.FromHours(3);
        Cache.Set("key", "value"u8, Expiration.At(moment.ToOffset(TimeSpan.FromHours(9))));

        Clock.Advance(TimeSpan.FromHours(3) - Millisecond);
        Assert.True(Cache.TryGetInfo("key", out EntryInfo info));
        Assert.Equal(moment, info.ExpiresAt);
        Clock.Advance(Millisecond);
        Assert.False(Cache.Contains("key"));
    }

    [Fact]
    public void Entry_without_expiration_stays()
    {
        Cache.Set("a", "value"u8);
        Cache.Set("b", "value"u8, Expiration.None);
        Cache.Set("c", "value"u8, Expiration.After(Timeout.InfiniteTimeSpan));
        Cache.Set("d", "value"u8, Expiration.At(DateTimeOffset.MaxValue));

        Clock.Advance(TimeSpan.FromDays(300_000));

        Assert.True(Cache.Contains("a"));
        Assert.True(Cache.Contains("b"));
        Assert.True(Cache.Contains("c"));
        Assert.True(Cache.Contains("d"));
    }

    [Fact]
    public void Longest_time_to_live_is_exact()
    {
        var longest = TimeSpan.FromDays(100_000);
        Cache.Set("a", "value"u8, longest);
        Cache.Set("b", "value"u8, Expiration.Sliding(longest));

        Clock.Advance(longest - Millisecond);
        Assert.True(Cache.Contains("a"));
        Assert.True(Cache.Contains("b"));
        Clock.Advance(Millisecond);
        Assert.False(Cache.Contains("a"));
        Assert.False(Cache.Contains("b"));
    }

    [Fact]
    public void Expiration_out_of_range_is_refused()
    {
        TimeSpan[] invalid = [TimeSpan.Zero, -Millisecond, TimeSpan.MinValue, TimeSpan.FromDays(100_000) + TimeSpan.FromTicks(1)];
        foreach (TimeSpan time in invalid)
        {
            if (time != Timeout.InfiniteTimeSpan)
            {
                Assert.Throws<ArgumentOutOfRangeException>(() => Expiration.After(time));
            }

            Assert.Throws<ArgumentOutOfRangeException>(() => Expiration.Sliding(time));
        }
    }

    [Fact]
    public void Moments_long_past_remove_the_key()
    {
        foreach (DateTimeOffset moment in (DateTimeOffset[])[DateTimeOffset.MinValue, DateTimeOffset.UnixEpoch, Clock.Now])
        {
            Cache.Set("key", "value"u8);
            Cache.Set("key", "other"u8, Expiration.At(moment));
            Assert.False(Cache.Contains("key"));
            Cache.Set("key", "value"u8);
            Cache.Set("key", "other"u8, Expiration.Sliding(TimeSpan.FromHours(1), moment));
            Assert.False(Cache.Contains("key"));
        }
    }

    [Fact]
    public void Sliding_entry_lives_as_long_as_it_is_read()
    {
        Cache.Set("key", "value"u8, Expiration.Sliding(TimeSpan.FromSeconds(8)));

        for (int i = 0; i < 20; i++)
        {
            Clock.Advance(TimeSpan.FromSeconds(7));
            Assert.Equal("value", Cache.GetString("key"));
        }

        Assert.True(Cache.TryGetInfo("key", out EntryInfo info));
        Assert.Equal(TimeSpan.FromSeconds(8), info.SlidingInterval);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(8), info.ExpiresAt);
        Clock.Advance(TimeSpan.FromSeconds(8));
        Assert.False(Cache.Contains("key"));
        Assert.Null(Cache.Get("key"));
    }

    [Fact]
    public void Every_way_of_reading_a_value_slides_and_looking_at_it_does_not()
    {
        Action[] reads =
        [
            () => Cache.TryGet("key", new byte[8], out int _),
            () => Cache.Read("key", 0, (_, _, _) => { }),
            () => Cache.OpenRead("key")!.Dispose(),
            () => Cache.GetMany([new byte[] { (byte)'k', (byte)'e', (byte)'y' }], new byte[8], new GetManyResult[1]),
        ];
        foreach (Action read in reads)
        {
            Cache.Set("key", "value"u8, Expiration.Sliding(TimeSpan.FromSeconds(8)));
            Clock.Advance(TimeSpan.FromSeconds(7));
            read();
            Clock.Advance(TimeSpan.FromSeconds(7));
            Assert.True(Cache.Contains("key"));
            Clock.Advance(TimeSpan.FromSeconds(1));
            Assert.False(Cache.Contains("key"));
        }
    }

    [Theory]
    [InlineData(10)]
    [InlineData(20_000)]
    public void Appending_to_a_value_is_no_use_of_it_however_long_it_is(int length)
    {
        Cache.Set("key", new byte[length], Expiration.Sliding(TimeSpan.FromSeconds(8)));
        DateTimeOffset deadline = Clock.Now + TimeSpan.FromSeconds(8);
        Clock.Advance(TimeSpan.FromSeconds(7));

        Assert.Equal(WriteStatus.Stored, Cache.Append("key", "x"u8));

        Cache.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(deadline, info.ExpiresAt);
        Assert.Equal(0, Store.GetStatistics().Totals.Hits);
    }

    [Fact]
    public void Read_in_the_first_eighth_of_the_interval_does_not_slide()
    {
        Cache.Set("key", "value"u8, Expiration.Sliding(TimeSpan.FromMilliseconds(8000)));

        Clock.Advance(TimeSpan.FromMilliseconds(999));
        Cache.Get("key");
        Cache.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(Clock.Now + TimeSpan.FromMilliseconds(7001), info.ExpiresAt);

        Clock.Advance(Millisecond);
        Cache.Get("key");
        Cache.TryGetInfo("key", out info);
        Assert.Equal(Clock.Now + TimeSpan.FromMilliseconds(8000), info.ExpiresAt);
    }

    [Fact]
    public void Sliding_ends_at_the_limit()
    {
        Cache.Set("key", "value"u8, Expiration.Sliding(TimeSpan.FromSeconds(10), Clock.Now + TimeSpan.FromSeconds(25)));

        for (int i = 0; i < 3; i++)
        {
            Clock.Advance(TimeSpan.FromSeconds(8));
            Assert.Equal("value", Cache.GetString("key"));
        }

        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Null(Cache.Get("key"));
    }

    [Fact]
    public void Sliding_stays_through_append_and_increment()
    {
        Cache.Set("text", "a"u8, Expiration.Sliding(TimeSpan.FromSeconds(10)));
        Cache.Set("number", "1"u8, Expiration.Sliding(TimeSpan.FromSeconds(10)));
        Clock.Advance(TimeSpan.FromSeconds(5));

        Cache.Append("text", "b"u8);
        Cache.Increment("number", 1, out _);

        Assert.True(Cache.TryGetInfo("text", out EntryInfo text));
        Assert.Equal(TimeSpan.FromSeconds(10), text.SlidingInterval);
        Assert.True(Cache.TryGetInfo("number", out EntryInfo number));
        Assert.Equal(TimeSpan.FromSeconds(10), number.SlidingInterval);
        Clock.Advance(TimeSpan.FromSeconds(9));
        Assert.Equal("2", Cache.GetString("number"));
    }

    [Theory]
    [InlineData(5)]
    [InlineData(100_000)]
    public void Expired_value_can_be_read_as_stale_until_it_is_removed(int length)
    {
        byte[] value = TestBytes.Of(length);
        Cache.Set("key", value, TimeSpan.FromSeconds(1));
        DateTimeOffset deadline = Clock.Now + TimeSpan.FromSeconds(1);
        Clock.Advance(TimeSpan.FromSeconds(5));
        var destination = new byte[length];

        Assert.True(Cache.TryGetStale("key", destination, out EntryInfo info));

        Assert.Equal(value, destination);
        Assert.Equal(deadline, info.ExpiresAt);
        Assert.False(Cache.TryGetStale("key", new byte[length - 1], out info));
        Assert.Equal(length, info.ValueBytes);
        Cache.Remove("key");
        Assert.False(Cache.TryGetStale("key", destination, out _));
    }

    [Fact]
    public void Fresh_value_can_be_read_as_stale_too()
    {
        Cache.Set("key", "value"u8);

        Assert.True(Cache.TryGetStale("key", new byte[8], out _));
    }

    [Fact]
    public void Cleared_value_is_not_even_stale()
    {
        Cache.Set("key", "value"u8, TimeSpan.FromSeconds(1));
        Cache.Clear();

        Assert.False(Cache.TryGetStale("key", new byte[8], out _));
    }

    [Fact]
    public void Clock_that_goes_back_lets_entries_live_longer_but_brings_no_removed_one_back()
    {
        Cache.Set("kept", "value"u8, TimeSpan.FromSeconds(10));
        Cache.Set("removed", "value"u8, TimeSpan.FromSeconds(10));
        Cache.Set("replaced", "old"u8, TimeSpan.FromSeconds(10));
        Cache.Remove("removed");
        Cache.Set("replaced", "new"u8, TimeSpan.FromSeconds(10));

        Clock.Advance(TimeSpan.FromDays(-365));

        Assert.Equal("value", Cache.GetString("kept"));
        Assert.False(Cache.Contains("removed"));
        Assert.Equal("new", Cache.GetString("replaced"));
        Assert.True(Cache.Set("kept", "again"u8, TimeSpan.FromSeconds(1)));
        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.False(Cache.Contains("kept"));
        Clock.Advance(TimeSpan.FromDays(366));
        Assert.False(Cache.Contains("replaced"));
    }

    [Fact]
    public void Clock_that_goes_back_keeps_versions_growing()
    {
        Cache.Set("key", "value"u8);
        Cache.TryGetInfo("key", out EntryInfo before);

        Clock.Advance(TimeSpan.FromDays(-365));
        Cache.Set("key", "value"u8);

        Cache.TryGetInfo("key", out EntryInfo after);
        Assert.True(after.Version > before.Version);
    }

    [Fact]
    public void Space_of_expired_entries_is_used_again()
    {
        for (int round = 0; round < 20; round++)
        {
            for (int i = 0; i < 500; i++)
            {
                Assert.True(Cache.Set($"{round}:{i}", TestBytes.Of(1000), TimeSpan.FromSeconds(5)));
            }

            for (int i = 0; i < 500; i++)
            {
                Assert.Equal(1000, Cache.Get($"{round}:{i}")?.Length);
            }

            Clock.Advance(TimeSpan.FromSeconds(6));
        }

        StoreStatistics statistics = Store.GetStatistics();
        Assert.True(statistics.Totals.Expirations > 0);
        Assert.True(statistics.Totals.Evictions < 1000, $"{statistics.Totals.Evictions} evictions");
    }
}
