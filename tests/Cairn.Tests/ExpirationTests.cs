namespace Cairn.Tests;

/// <summary>The time at which entries expire.</summary>
public sealed class ExpirationTests : StoreTest
{
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);

    [Fact]
    public void Entry_is_readable_until_its_deadline_and_gone_at_it()
    {
        Store.Set("book:42", "Dune"u8, TimeSpan.FromSeconds(60));

        Clock.Advance(TimeSpan.FromSeconds(60) - Millisecond);
        Assert.Equal("Dune", Store.GetString("book:42"));

        Clock.Advance(Millisecond);
        Assert.False(Store.TryGet("book:42", new byte[8], out int _));
        Assert.False(Store.Contains("book:42"));
        Assert.False(Store.TryPin("book:42", out _));
    }

    [Fact]
    public void Time_to_live_is_rounded_up_to_milliseconds()
    {
        Store.Set("key", "value"u8, TimeSpan.FromTicks(1));

        Assert.True(Store.Contains("key"));
        Clock.Advance(Millisecond);
        Assert.False(Store.Contains("key"));
    }

    [Fact]
    public void Absolute_moment_ends_the_entry()
    {
        DateTimeOffset moment = Clock.Now + TimeSpan.FromHours(3);
        Store.Set("key", "value"u8, Expiration.At(moment.ToOffset(TimeSpan.FromHours(9))));

        Clock.Advance(TimeSpan.FromHours(3) - Millisecond);
        Assert.True(Store.TryGetInfo("key", out EntryInfo info));
        Assert.Equal(moment, info.ExpiresAt);
        Clock.Advance(Millisecond);
        Assert.False(Store.Contains("key"));
    }

    [Fact]
    public void Entry_without_expiration_stays()
    {
        Store.Set("a", "value"u8);
        Store.Set("b", "value"u8, Expiration.None);
        Store.Set("c", "value"u8, Expiration.After(Timeout.InfiniteTimeSpan));
        Store.Set("d", "value"u8, Expiration.At(DateTimeOffset.MaxValue));

        Clock.Advance(TimeSpan.FromDays(300_000));

        Assert.True(Store.Contains("a"));
        Assert.True(Store.Contains("b"));
        Assert.True(Store.Contains("c"));
        Assert.True(Store.Contains("d"));
    }

    [Fact]
    public void Longest_time_to_live_is_exact()
    {
        var longest = TimeSpan.FromDays(100_000);
        Store.Set("a", "value"u8, longest);
        Store.Set("b", "value"u8, Expiration.Sliding(longest));

        Clock.Advance(longest - Millisecond);
        Assert.True(Store.Contains("a"));
        Assert.True(Store.Contains("b"));
        Clock.Advance(Millisecond);
        Assert.False(Store.Contains("a"));
        Assert.False(Store.Contains("b"));
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
            Store.Set("key", "value"u8);
            Store.Set("key", "other"u8, Expiration.At(moment));
            Assert.False(Store.Contains("key"));
            Store.Set("key", "value"u8);
            Store.Set("key", "other"u8, Expiration.Sliding(TimeSpan.FromHours(1), moment));
            Assert.False(Store.Contains("key"));
        }
    }

    [Fact]
    public void Sliding_entry_lives_as_long_as_it_is_read()
    {
        Store.Set("key", "value"u8, Expiration.Sliding(TimeSpan.FromSeconds(8)));

        for (int i = 0; i < 20; i++)
        {
            Clock.Advance(TimeSpan.FromSeconds(7));
            Assert.Equal("value", Store.GetString("key"));
        }

        Assert.True(Store.TryGetInfo("key", out EntryInfo info));
        Assert.Equal(TimeSpan.FromSeconds(8), info.SlidingInterval);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(8), info.ExpiresAt);
        Clock.Advance(TimeSpan.FromSeconds(8));
        Assert.False(Store.Contains("key"));
        Assert.Null(Store.Get("key"));
    }

    [Fact]
    public void Every_way_of_reading_a_value_slides_and_looking_at_it_does_not()
    {
        Action[] reads =
        [
            () => Store.TryGet("key", new byte[8], out int _),
            () => Store.Read("key", 0, (_, _, _) => { }),
            () => Store.OpenRead("key")!.Dispose(),
            () => Store.GetMany([new byte[] { (byte)'k', (byte)'e', (byte)'y' }], new byte[8], new GetManyResult[1]),
        ];
        foreach (Action read in reads)
        {
            Store.Set("key", "value"u8, Expiration.Sliding(TimeSpan.FromSeconds(8)));
            Clock.Advance(TimeSpan.FromSeconds(7));
            read();
            Clock.Advance(TimeSpan.FromSeconds(7));
            Assert.True(Store.Contains("key"));
            Clock.Advance(TimeSpan.FromSeconds(1));
            Assert.False(Store.Contains("key"));
        }
    }

    [Theory]
    [InlineData(10)]
    [InlineData(20_000)]
    public void Appending_to_a_value_is_no_use_of_it_however_long_it_is(int length)
    {
        Store.Set("key", new byte[length], Expiration.Sliding(TimeSpan.FromSeconds(8)));
        DateTimeOffset deadline = Clock.Now + TimeSpan.FromSeconds(8);
        Clock.Advance(TimeSpan.FromSeconds(7));

        Assert.Equal(WriteStatus.Stored, Store.Append("key", "x"u8));

        Store.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(deadline, info.ExpiresAt);
        Assert.Equal(0, Store.GetStatistics().Hits);
    }

    [Fact]
    public void Read_in_the_first_eighth_of_the_interval_does_not_slide()
    {
        Store.Set("key", "value"u8, Expiration.Sliding(TimeSpan.FromMilliseconds(8000)));

        Clock.Advance(TimeSpan.FromMilliseconds(999));
        Store.Get("key");
        Store.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(Clock.Now + TimeSpan.FromMilliseconds(7001), info.ExpiresAt);

        Clock.Advance(Millisecond);
        Store.Get("key");
        Store.TryGetInfo("key", out info);
        Assert.Equal(Clock.Now + TimeSpan.FromMilliseconds(8000), info.ExpiresAt);
    }

    [Fact]
    public void Sliding_ends_at_the_limit()
    {
        Store.Set("key", "value"u8, Expiration.Sliding(TimeSpan.FromSeconds(10), Clock.Now + TimeSpan.FromSeconds(25)));

        for (int i = 0; i < 3; i++)
        {
            Clock.Advance(TimeSpan.FromSeconds(8));
            Assert.Equal("value", Store.GetString("key"));
        }

        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Null(Store.Get("key"));
    }

    [Fact]
    public void Sliding_stays_through_append_and_increment()
    {
        Store.Set("text", "a"u8, Expiration.Sliding(TimeSpan.FromSeconds(10)));
        Store.Set("number", "1"u8, Expiration.Sliding(TimeSpan.FromSeconds(10)));
        Clock.Advance(TimeSpan.FromSeconds(5));

        Store.Append("text", "b"u8);
        Store.Increment("number", 1, out _);

        Assert.True(Store.TryGetInfo("text", out EntryInfo text));
        Assert.Equal(TimeSpan.FromSeconds(10), text.SlidingInterval);
        Assert.True(Store.TryGetInfo("number", out EntryInfo number));
        Assert.Equal(TimeSpan.FromSeconds(10), number.SlidingInterval);
        Clock.Advance(TimeSpan.FromSeconds(9));
        Assert.Equal("2", Store.GetString("number"));
    }

    [Theory]
    [InlineData(5)]
    [InlineData(100_000)]
    public void Expired_value_can_be_read_as_stale_until_it_is_removed(int length)
    {
        byte[] value = TestBytes.Of(length);
        Store.Set("key", value, TimeSpan.FromSeconds(1));
        DateTimeOffset deadline = Clock.Now + TimeSpan.FromSeconds(1);
        Clock.Advance(TimeSpan.FromSeconds(5));
        var destination = new byte[length];

        Assert.True(Store.TryGetStale("key", destination, out EntryInfo info));

        Assert.Equal(value, destination);
        Assert.Equal(deadline, info.ExpiresAt);
        Assert.False(Store.TryGetStale("key", new byte[length - 1], out info));
        Assert.Equal(length, info.ValueBytes);
        Store.Remove("key");
        Assert.False(Store.TryGetStale("key", destination, out _));
    }

    [Fact]
    public void Fresh_value_can_be_read_as_stale_too()
    {
        Store.Set("key", "value"u8);

        Assert.True(Store.TryGetStale("key", new byte[8], out _));
    }

    [Fact]
    public void Cleared_value_is_not_even_stale()
    {
        Store.Set("key", "value"u8, TimeSpan.FromSeconds(1));
        Store.Clear();

        Assert.False(Store.TryGetStale("key", new byte[8], out _));
    }

    [Fact]
    public void Clock_that_goes_back_lets_entries_live_longer_but_brings_no_removed_one_back()
    {
        Store.Set("kept", "value"u8, TimeSpan.FromSeconds(10));
        Store.Set("removed", "value"u8, TimeSpan.FromSeconds(10));
        Store.Set("replaced", "old"u8, TimeSpan.FromSeconds(10));
        Store.Remove("removed");
        Store.Set("replaced", "new"u8, TimeSpan.FromSeconds(10));

        Clock.Advance(TimeSpan.FromDays(-365));

        Assert.Equal("value", Store.GetString("kept"));
        Assert.False(Store.Contains("removed"));
        Assert.Equal("new", Store.GetString("replaced"));
        Assert.True(Store.Set("kept", "again"u8, TimeSpan.FromSeconds(1)));
        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.False(Store.Contains("kept"));
        Clock.Advance(TimeSpan.FromDays(366));
        Assert.False(Store.Contains("replaced"));
    }

    [Fact]
    public void Clock_that_goes_back_keeps_versions_growing()
    {
        Store.Set("key", "value"u8);
        Store.TryGetInfo("key", out EntryInfo before);

        Clock.Advance(TimeSpan.FromDays(-365));
        Store.Set("key", "value"u8);

        Store.TryGetInfo("key", out EntryInfo after);
        Assert.True(after.Version > before.Version);
    }

    [Fact]
    public void Space_of_expired_entries_is_used_again()
    {
        for (int round = 0; round < 20; round++)
        {
            for (int i = 0; i < 500; i++)
            {
                Assert.True(Store.Set($"{round}:{i}", TestBytes.Of(1000), TimeSpan.FromSeconds(5)));
            }

            for (int i = 0; i < 500; i++)
            {
                Assert.Equal(1000, Store.Get($"{round}:{i}")?.Length);
            }

            Clock.Advance(TimeSpan.FromSeconds(6));
        }

        StoreStatistics statistics = Store.GetStatistics();
        Assert.True(statistics.Expirations > 0);
        Assert.True(statistics.Evictions < 1000, $"{statistics.Evictions} evictions");
    }
}
