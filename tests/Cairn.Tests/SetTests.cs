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

        Assert.True(Store.Set("key", value));

        Assert.Equal(value, Store.Get("key"));
    }

    [Fact]
    public void Every_length_around_the_size_of_a_segment_can_be_written_over_every_other()
    {
        int segmentBytes = Store.GetStatistics().BytesPerSegment;
        int[] lengths = [0, .. Enumerable.Range(segmentBytes - 60, 80), .. Enumerable.Range((2 * segmentBytes) - 60, 80)];

        foreach (int length in lengths)
        {
            Assert.True(Store.Set("key", TestBytes.Of(length)), $"{length} bytes");
            Assert.Equal(TestBytes.Of(length), Store.Get("key"));
        }
    }

    [Fact]
    public void Every_length_around_the_longest_locked_copy_can_be_written()
    {
        CairnStore store = Open(Options with { CapacityBytes = 256L << 20 });
        Assert.True(store.GetStatistics().BytesPerSegment > 128 * 1024);

        foreach (int length in Enumerable.Range((64 * 1024) - 40, 60))
        {
            Assert.True(store.Set("key", TestBytes.Of(length)));
            Assert.Equal(TestBytes.Of(length), store.Get("key"));
        }
    }

    [Fact]
    public void Longest_value_is_stored_and_one_byte_more_is_refused()
    {
        Assert.Equal(1 << 20, Store.MaxValueBytes);

        Assert.True(Store.Set("key", TestBytes.Of(Store.MaxValueBytes)));

        Assert.Equal(TestBytes.Of(Store.MaxValueBytes), Store.Get("key"));
        var tooLong = Assert.Throws<ArgumentOutOfRangeException>(() => Store.Set("key", new byte[Store.MaxValueBytes + 1]));
        Assert.Contains("1,048,576", tooLong.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentOutOfRangeException>(() => Store.Add("key", new byte[Store.MaxValueBytes + 1]));
        Assert.Equal(TestBytes.Of(Store.MaxValueBytes), Store.Get("key"));
    }

    [Fact]
    public void Later_value_replaces_the_earlier_with_its_flags_and_expiration()
    {
        Store.Set("key", "one"u8, TimeSpan.FromSeconds(1), flags: 1);

        Store.Set("key", "two"u8);

        Assert.Equal("two", Store.GetString("key"));
        Store.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(0u, info.Flags);
        Assert.Null(info.ExpiresAt);
        Clock.Advance(TimeSpan.FromDays(1000));
        Assert.True(Store.Contains("key"));
    }

    [Fact]
    public void Version_grows_with_every_write_of_a_key()
    {
        ulong before = 0;
        Action[] writes =
        [
            () => Store.Set("key", "1"u8),
            () => Store.Set("key", "1"u8),
            () => Store.Replace("key", "2"u8),
            () => Store.Append("key", "3"u8),
            () => Store.Prepend("key", "4"u8),
            () => Store.Increment("key", 1, out _),
            () => Store.Touch("key", Expiration.None),
            () => Store.Set("key", new byte[100_000]),
            () => Store.Remove("key"),
            () => Store.Add("key", "5"u8),
            () => Store.Clear(),
            () => Store.Set("key", "6"u8),
        ];
        foreach (Action write in writes)
        {
            write();
            if (Store.TryGetInfo("key", out EntryInfo info))
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
        Store.Set("key", "old"u8);

        Assert.True(Store.Set("key", new byte[length], Expiration.At(Clock.Now)));

        Assert.False(Store.Contains("key"));
    }

    [Fact]
    public void Removed_value_is_gone_and_was_there_once()
    {
        Store.Set("key", "value"u8);

        Assert.True(Store.Remove("key"));

        Assert.False(Store.Contains("key"));
        Assert.False(Store.Remove("key"));
        Assert.False(Store.Remove("never written"));
    }

    [Fact]
    public void Removing_an_expired_value_finds_none()
    {
        Store.Set("key", "value"u8, TimeSpan.FromSeconds(1));
        Clock.Advance(TimeSpan.FromSeconds(1));

        Assert.False(Store.Remove("key"));

        Assert.False(Store.TryGetStale("key", new byte[8], out _));
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

        Assert.True(Store.Set("key", source, length, TimeSpan.FromSeconds(5), flags: 9));

        Assert.Equal(value, Store.Get("key"));
        Assert.Equal(length, source.Position);
        Store.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(9u, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(5), info.ExpiresAt);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(500_000)]
    public void Stream_that_ends_early_leaves_the_earlier_value(int length)
    {
        Store.Set("key", "old"u8);
        using var source = new MemoryStream(TestBytes.Of(length - 1));

        Assert.Throws<EndOfStreamException>(() => Store.Set("key", source, length));

        Assert.Equal("old", Store.GetString("key"));
        Assert.True(Store.Set("key", "new"u8));
        Assert.Equal("new", Store.GetString("key"));
    }

    [Fact]
    public void Streams_that_fail_use_up_no_room()
    {
        for (int i = 0; i < 100; i++)
        {
            using var source = new MemoryStream(new byte[1000]);
            Assert.Throws<EndOfStreamException>(() => Store.Set("key", source, 1 << 20));
        }

        Assert.True(Store.Set("key", TestBytes.Of(1 << 20)));
        Assert.Equal(TestBytes.Of(1 << 20), Store.Get("key"));
    }

    [Fact]
    public void Length_of_a_stream_is_checked()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => Store.Set("key", new MemoryStream(), -1));
        Assert.Throws<ArgumentOutOfRangeException>(() => Store.Set("key", new MemoryStream(), Store.MaxValueBytes + 1));
    }

    [Fact]
    public void Stream_may_use_the_store_while_it_is_read()
    {
        Store.Set("key", "old"u8);
        using var source = new CallingStream(() =>
        {
            Assert.Equal("old", Store.GetString("key"));
            Store.Set("other", "value"u8);
        });

        Assert.True(Store.Set("key", source, 200_000));

        Assert.Equal(200_000, Store.Get("key")!.Length);
        Assert.Equal("value", Store.GetString("other"));
    }

    [Fact]
    public void Flags_keep_all_their_bits()
    {
        foreach (uint flags in (uint[])[0, 1, 0x8000_0000, 0xFFFF_FFFF, 0x1234_5678])
        {
            Store.Set("key", "value"u8, flags: flags);
            Assert.True(Store.TryGetInfo("key", out EntryInfo info));
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
