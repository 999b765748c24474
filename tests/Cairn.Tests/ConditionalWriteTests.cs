namespace Cairn.Tests;

/// <summary>Writes that depend on the present value: add, replace, compare-and-swap, append, prepend, touch, remove-if-version.</summary>
public sealed class ConditionalWriteTests : StoreTest
{
    [Fact]
    public void Add_stores_only_where_there_is_no_value()
    {
        Assert.Equal(WriteStatus.Stored, Cache.Add("key", "one"u8, TimeSpan.FromSeconds(1)));
        Assert.Equal(WriteStatus.Exists, Cache.Add("key", "two"u8));
        Assert.Equal("one", Cache.GetString("key"));

        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(WriteStatus.Stored, Cache.Add("key", "three"u8));
        Assert.Equal("three", Cache.GetString("key"));

        Cache.Clear();
        Assert.Equal(WriteStatus.Stored, Cache.Add("key", "four"u8));
        Assert.Equal("four", Cache.GetString("key"));
    }

    [Fact]
    public void Replace_stores_only_where_there_is_a_value()
    {
        Assert.Equal(WriteStatus.NotFound, Cache.Replace("key", "one"u8));
        Assert.False(Cache.Contains("key"));

        Cache.Set("key", "one"u8, TimeSpan.FromSeconds(1));
        Assert.Equal(WriteStatus.Stored, Cache.Replace("key", "two"u8, TimeSpan.FromSeconds(1)));
        Assert.Equal("two", Cache.GetString("key"));

        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(WriteStatus.NotFound, Cache.Replace("key", "three"u8));
        Assert.False(Cache.Contains("key"));
    }

    [Theory]
    [InlineData(10)]
    [InlineData(300_000)]
    public void Conditions_hold_for_values_of_any_length(int length)
    {
        byte[] value = TestBytes.Of(length);

        Assert.Equal(WriteStatus.NotFound, Cache.Replace("key", value));
        Assert.Equal(WriteStatus.NotFound, Cache.CompareAndSwap("key", value, 1));
        Assert.Equal(WriteStatus.Stored, Cache.Add("key", value));
        Assert.Equal(WriteStatus.Exists, Cache.Add("key", value));
        Cache.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(WriteStatus.VersionMismatch, Cache.CompareAndSwap("key", value, info.Version + 1));
        Assert.Equal(WriteStatus.Stored, Cache.CompareAndSwap("key", value, info.Version));
        Assert.Equal(WriteStatus.VersionMismatch, Cache.CompareAndSwap("key", value, info.Version));
        Assert.Equal(value, Cache.Get("key"));
    }

    [Fact]
    public void Compare_and_swap_succeeds_once_for_each_version()
    {
        Cache.Set("key", "one"u8);
        Cache.TryGetInfo("key", out EntryInfo info);

        Assert.Equal(WriteStatus.Stored, Cache.CompareAndSwap("key", "two"u8, info.Version, TimeSpan.FromSeconds(9), flags: 4));
        Assert.Equal(WriteStatus.VersionMismatch, Cache.CompareAndSwap("key", "three"u8, info.Version));

        Assert.Equal("two", Cache.GetString("key"));
        Cache.TryGetInfo("key", out info);
        Assert.Equal(4u, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(9), info.ExpiresAt);
    }

    [Fact]
    public void Compare_and_swap_finds_no_value_that_expired_or_was_removed()
    {
        Cache.Set("key", "one"u8, TimeSpan.FromSeconds(1));
        Cache.TryGetInfo("key", out EntryInfo info);

        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(WriteStatus.NotFound, Cache.CompareAndSwap("key", "two"u8, info.Version));
        Cache.Remove("key");
        Assert.Equal(WriteStatus.NotFound, Cache.CompareAndSwap("key", "two"u8, info.Version));
        Assert.False(Cache.Contains("key"));
    }

    [Fact]
    public void Remove_if_version_removes_only_that_version()
    {
        Assert.Equal(WriteStatus.NotFound, Cache.CompareAndRemove("key", 1));
        Cache.Set("key", "one"u8);
        Cache.TryGetInfo("key", out EntryInfo first);
        Cache.Set("key", "two"u8);

        Assert.Equal(WriteStatus.VersionMismatch, Cache.CompareAndRemove("key", first.Version));
        Assert.Equal("two", Cache.GetString("key"));
        Cache.TryGetInfo("key", out EntryInfo second);
        Assert.Equal(WriteStatus.Stored, Cache.CompareAndRemove("key", second.Version));
        Assert.False(Cache.Contains("key"));
    }

    [Fact]
    public void Append_and_prepend_keep_flags_and_expiration()
    {
        Cache.Set("key", "b"u8, TimeSpan.FromSeconds(10), flags: 5);

        Assert.Equal(WriteStatus.Stored, Cache.Append("key", "c"u8));
        Assert.Equal(WriteStatus.Stored, Cache.Prepend("key", "a"u8));

        Assert.Equal("abc", Cache.GetString("key"));
        Cache.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(5u, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(10), info.ExpiresAt);
    }

    [Fact]
    public void Append_and_prepend_need_a_value()
    {
        Cache.Set("gone", "x"u8, TimeSpan.FromSeconds(1));
        Clock.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal(WriteStatus.NotFound, Cache.Append("key", "a"u8));
        Assert.Equal(WriteStatus.NotFound, Cache.Prepend("key", "a"u8));
        Assert.Equal(WriteStatus.NotFound, Cache.Append("gone", "a"u8));

        Assert.False(Cache.Contains("key"));
        Assert.False(Cache.Contains("gone"));
    }

    [Fact]
    public void Value_may_grow_byte_by_byte_over_the_size_of_a_segment()
    {
        int start = Store.GetStatistics().BytesPerSegment - 100;
        Cache.Set("key", TestBytes.Of(start));

        for (int i = 0; i < 150; i++)
        {
            Assert.Equal(WriteStatus.Stored, Cache.Append("key", [(byte)i]));
        }

        Assert.Equal([.. TestBytes.Of(start), .. Enumerable.Range(0, 150).Select(i => (byte)i)], Cache.Get("key")!);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(8_150)]
    [InlineData(300_000)]
    public void Touch_changes_the_expiration_and_nothing_else(int length)
    {
        byte[] value = TestBytes.Of(length);
        Cache.Set("key", value, TimeSpan.FromSeconds(1), flags: 6);

        Assert.Equal(WriteStatus.Stored, Cache.Touch("key", TimeSpan.FromSeconds(100)));

        Clock.Advance(TimeSpan.FromSeconds(99));
        Assert.Equal(value, Cache.Get("key"));
        Cache.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(6u, info.Flags);
        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.False(Cache.Contains("key"));
        Assert.Equal(WriteStatus.NotFound, Cache.Touch("key", TimeSpan.FromSeconds(100)));
    }

    [Theory]
    [InlineData(10)]
    [InlineData(300_000)]
    public void Touch_with_a_moment_that_has_passed_removes_the_key(int length)
    {
        Cache.Set("key", new byte[length]);

        Assert.Equal(WriteStatus.Stored, Cache.Touch("key", Expiration.At(Clock.Now)));

        Assert.False(Cache.Contains("key"));
    }

    [Fact]
    public void Touch_of_a_missing_key_finds_none()
    {
        Assert.Equal(WriteStatus.NotFound, Cache.Touch("key", Expiration.None));
        Assert.False(Cache.Contains("key"));
    }

    [Fact]
    public void Value_may_grow_by_appending_up_to_the_longest_there_can_be()
    {
        byte[] piece = TestBytes.Of(Store.MaxValueBytes / 32);
        Cache.Set("key", [], TimeSpan.FromSeconds(10), flags: 5);

        for (int i = 0; i < 32; i++)
        {
            Assert.Equal(WriteStatus.Stored, i % 2 == 0 ? Cache.Append("key", piece) : Cache.Prepend("key", piece));
        }

        Assert.Equal(WriteStatus.TooLarge, Cache.Append("key", "x"u8));
        Assert.Equal(WriteStatus.TooLarge, Cache.Prepend("key", "x"u8));
        Assert.Equal(WriteStatus.Stored, Cache.Append("key", []));
        byte[] value = Cache.Get("key")!;
        Assert.Equal(Enumerable.Repeat(piece, 32).SelectMany(bytes => bytes), value);
        Cache.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(5u, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(10), info.ExpiresAt);
    }
}
