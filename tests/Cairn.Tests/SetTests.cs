namespace Cairn.Tests;

/// <summary>Unconditional writing and removing.</summary>
public sealed class SetTests : StoreTest
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(8_100)]
    [InlineData(8_192)]
    [InlineData(8_193)]
    [InlineData(65_536)]
    [InlineData(65_537)]
    [InlineData(500_000)]
    [InlineData(1 << 20)]
    public void Value_is_read_back_as_it_was_written(int length)
    {
        byte[] value = TestBytes.Of(length);

        Assert.True(Cache.Set("key", value));

        Assert.Equal(value, Cache.Get("key"));
    }

    [Fact]
    public void Every_length_around_the_size_of_a_segment_can_be_written_over_every_other()
    {
        int segmentBytes = Store.GetStatistics().BytesPerSegment;
        int[] lengths = [0, .. Enumerable.Range(segmentBytes - 60, 80), .. Enumerable.Range((2 * segmentBytes) - 60, 80)];

        foreach (int length in lengths)
        {
            Assert.True(Cache.Set("key", TestBytes.Of(length)), $"{length} bytes");
            Assert.Equal(TestBytes.Of(length), Cache.Get("key"));
        }
    }

    [Fact]
    public void Every_length_around_the_longest_locked_copy_can_be_written()
    {
        CairnStore store = Open(Options with { CapacityBytes = 256L << 20 });
        Assert.True(store.GetStatistics().BytesPerSegment > 128 * 1024);

        foreach (int length in Enumerable.Range((64 * 1024) - 40, 60))
        {
            Assert.True(store.DefaultCollection.Set("key", TestBytes.Of(length)));
            Assert.Equal(TestBytes.Of(length), store.DefaultCollection.Get("key"));
        }
    }

    [Fact]
    public void Longest_value_is_stored_and_one_byte_more_is_refused()
    {
        Assert.Equal(1 << 20, Store.MaxValueBytes);

        Assert.True(Cache.Set("key", TestBytes.Of(Store.MaxValueBytes)));

        Assert.Equal(TestBytes.Of(Store.MaxValueBytes), Cache.Get("key"));
        var tooLong = Assert.Throws<ArgumentOutOfRangeException>(() => Cache.Set("key", new byte[Store.MaxValueBytes + 1]));
        Assert.Contains("1,048,576", tooLong.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentOutOfRangeException>(() => Cache.Add("key", new byte[Store.MaxValueBytes + 1]));
        Assert.Equal(TestBytes.Of(Store.MaxValueBytes), Cache.Get("key"));
    }

    [Fact]
    public void Later_value_replaces_the_earlier_with_its_flags_and_expiration()
    {
        Cache.Set("key", "one"u8, TimeSpan.FromSeconds(1), flags: 1);

        Cache.Set("key", "two"u8);

        Assert.Equal("two", Cache.GetString("key"));
        Cache.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(0u, info.Flags);
        Assert.Null(info.ExpiresAt);
        Clock.Advance(TimeSpan.FromDays(1000));
        Assert.True(Cache.Contains("key"));
    }

    [Fact]
    public void Version_grows_with_every_write_of_a_key()
    {
        ulong before = 0;
        Action[] writes =
        [
            () => Cache.Set("key", "1"u8),
            () => Cache.Set("key", "1"u8),
            () => Cache.Replace("key", "2"u8),
            () => Cache.Append("key", "3"u8),
            () => Cache.Prepend("key", "4"u8),
            () => Cache.Increment("key", 1, out _),
            () => Cache.Touch("key", Expiration.None),
            () => Cache.Set("key", new byte[100_000]),
            () => Cache.Remove("key"),
            () => Cache.Add("key", "5"u8),
            () => Cache.Clear(),
            () => Cache.Set("key", "6"u8),
        ];
        foreach (Action write in writes)
        {
            write();
            if (Cache.TryGetInfo("key", out EntryInfo info))
            {
                Assert.True(info.Version > before);
                before = info.Version;
            }
        }

        Assert.NotEqual(0ul, before);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(10_000)]
    [InlineData(300_000)]
    public void Set_with_a_moment_that_has_passed_removes_the_key(int length)
    {
        Cache.Set("key", "old"u8);

        Assert.True(Cache.Set("key", new byte[length], Expiration.At(Clock.Now)));

        Assert.False(Cache.Contains("key"));
    }

    [Fact]
    public void Removed_value_is_gone_and_was_there_once()
    {
        Cache.Set("key", "value"u8);

        Assert.True(Cache.Remove("key"));

        Assert.False(Cache.Contains("key"));
        Assert.False(Cache.Remove("key"));
        Assert.False(Cache.Remove("never written"));
    }

    [Fact]
    public void Removing_an_expired_value_finds_none()
    {
        Cache.Set("key", "value"u8, TimeSpan.FromSeconds(1));
        Clock.Advance(TimeSpan.FromSeconds(1));

        Assert.False(Cache.Remove("key"));

        Assert.False(Cache.TryGetStale("key", new byte[8], out _));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(100)]
    [InlineData(65_536)]
    [InlineData(65_537)]
    [InlineData(1 << 20)]
    public void Stream_is_stored_up_to_the_length_that_was_named(int length)
    {
        byte[] value = TestBytes.Of(length);
        using var source = new MemoryStream([.. value, 1, 2, 3]);

        Assert.True(Cache.Set("key", source, length, TimeSpan.FromSeconds(5), flags: 9));

        Assert.Equal(value, Cache.Get("key"));
        Assert.Equal(length, source.Position);
        Cache.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(9u, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(5), info.ExpiresAt);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(500_000)]
    public void Stream_that_ends_early_leaves_the_earlier_value(int length)
    {
        Cache.Set("key", "old"u8);
        using var source = new MemoryStream(TestBytes.Of(length - 1));

        Assert.Throws<EndOfStreamException>(() => Cache.Set("key", source, length));

        Assert.Equal("old", Cache.GetString("key"));
        Assert.True(Cache.Set("key", "new"u8));
        Assert.Equal("new", Cache.GetString("key"));
    }

    [Fact]
    public void Streams_that_fail_use_up_no_room()
    {
        for (int i = 0; i < 100; i++)
        {
            using var source = new MemoryStream(new byte[1000]);
            Assert.Throws<EndOfStreamException>(() => Cache.Set("key", source, 1 << 20));
        }

        Assert.True(Cache.Set("key", TestBytes.Of(1 << 20)));
        Assert.Equal(TestBytes.Of(1 << 20), Cache.Get("key"));
    }

    [Fact]
    public void Length_of_a_stream_is_checked()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => Cache.Set("key", new MemoryStream(), -1));
        Assert.Throws<ArgumentOutOfRangeException>(() => Cache.Set("key", new MemoryStream(), Store.MaxValueBytes + 1));
    }

    [Fact]
    public void Stream_may_use_the_store_while_it_is_read()
    {
        Cache.Set("key", "old"u8);
        using var source = new CallingStream(() =>
        {
            Assert.Equal("old", Cache.GetString("key"));
            Cache.Set("other", "value"u8);
        });

        Assert.True(Cache.Set("key", source, 200_000));

        Assert.Equal(200_000, Cache.Get("key")!.Length);
        Assert.Equal("value", Cache.GetString("other"));
    }

    [Fact]
    public void Flags_keep_all_their_bits()
    {
        foreach (uint flags in (uint[])[0, 1, 0x8000_0000, 0xFFFF_FFFF, 0x1234_5678])
        {
            Cache.Set("key", "value"u8, flags: flags);
            Assert.True(Cache.TryGetInfo("key", out EntryInfo info));
            Assert.Equal(flags, info.Flags);
        }
    }

    // An endless stream of zeros that calls an action first.
    private sealed class CallingStream(Action onRead) : MemoryStream
    {
        public override int Read(Span<byte> buffer)
        {
            onRead();
            buffer.Clear();
            return buffer.Length;
        }

        public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));
    }
}
