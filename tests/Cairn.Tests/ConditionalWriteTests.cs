namespace Cairn.Tests;

/// <summary>Writes that depend on the present value: add, replace, compare-and-swap, append, prepend, touch, remove-if-version.</summary>
public sealed class ConditionalWriteTests : StoreTest
{
    [Fact]
    public void Add_stores_only_where_there_is_no_value()
    {
        Assert.Equal(WriteStatus.Stored, Store.Add("key", "one"u8, TimeSpan.FromSeconds(1)));
        Assert.Equal(WriteStatus.Exists, Store.Add("key", "two"u8));
        Assert.Equal("one", Store.GetString("key"));

        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(WriteStatus.Stored, Store.Add("key", "three"u8));
        Assert.Equal("three", Store.GetString("key"));

        Store.Clear();
        Assert.Equal(WriteStatus.Stored, Store.Add("key", "four"u8));
        Assert.Equal("four", Store.GetString("key"));
    }

    [Fact]
    public void Replace_stores_only_where_there_is_a_value()
    {
        Assert.Equal(WriteStatus.NotFound, Store.Replace("key", "one"u8));
        Assert.False(Store.Contains("key"));

        Store.Set("key", "one"u8, TimeSpan.FromSeconds(1));
        Assert.Equal(WriteStatus.Stored, Store.Replace("key", "two"u8, TimeSpan.FromSeconds(1)));
        Assert.Equal("two", Store.GetString("key"));

        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(WriteStatus.NotFound, Store.Replace("key", "three"u8));
        Assert.False(Store.Contains("key"));
    }

    [Theory]
    [InlineData(10)]
    [InlineData(300_000)]
    public void Conditions_hold_for_values_of_any_length(int length)
    {
        byte[] value = TestBytes.Of(length);

        Assert.Equal(WriteStatus.NotFound, Store.Replace("key", value));
        Assert.Equal(WriteStatus.NotFound, Store.CompareAndSwap("key", value, 1));
        Assert.Equal(WriteStatus.Stored, Store.Add("key", value));
        Assert.Equal(WriteStatus.Exists, Store.Add("key", value));
        Store.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(WriteStatus.VersionMismatch, Store.CompareAndSwap("key", value, info.Version + 1));
        Assert.Equal(WriteStatus.Stored, Store.CompareAndSwap("key", value, info.Version));
        Assert.Equal(WriteStatus.VersionMismatch, Store.CompareAndSwap("key", value, info.Version));
        Assert.Equal(value, Store.Get("key"));
    }

    [Fact]
    public void Compare_and_swap_succeeds_once_for_each_version()
    {
        Store.Set("key", "one"u8);
        Store.TryGetInfo("key", out EntryInfo info);

        Assert.Equal(WriteStatus.Stored, Store.CompareAndSwap("key", "two"u8, info.Version, TimeSpan.FromSeconds(9), flags: 4));
        Assert.Equal(WriteStatus.VersionMismatch, Store.CompareAndSwap("key", "three"u8, info.Version));

        Assert.Equal("two", Store.GetString("key"));
        Store.TryGetInfo("key", out info);
        Assert.Equal(4u, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(9), info.ExpiresAt);
    }

    [Fact]
    public void Compare_and_swap_finds_no_value_that_expired_or_was_removed()
    {
        Store.Set("key", "one"u8, TimeSpan.FromSeconds(1));
        Store.TryGetInfo("key", out EntryInfo info);

        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(WriteStatus.NotFound, Store.CompareAndSwap("key", "two"u8, info.Version));
        Store.Remove("key");
        Assert.Equal(WriteStatus.NotFound, Store.CompareAndSwap("key", "two"u8, info.Version));
        Assert.False(Store.Contains("key"));
    }

    [Fact]
    public void Remove_if_version_removes_only_that_version()
    {
        Assert.Equal(WriteStatus.NotFound, Store.CompareAndRemove("key", 1));
        Store.Set("key", "one"u8);
        Store.TryGetInfo("key", out EntryInfo first);
        Store.Set("key", "two"u8);

        Assert.Equal(WriteStatus.VersionMismatch, Store.CompareAndRemove("key", first.Version));
        Assert.Equal("two", Store.GetString("key"));
        Store.TryGetInfo("key", out EntryInfo second);
        Assert.Equal(WriteStatus.Stored, Store.CompareAndRemove("key", second.Version));
        Assert.False(Store.Contains("key"));
    }

    [Fact]
    public void Append_and_prepend_keep_flags_and_expiration()
    {
        Store.Set("key", "b"u8, TimeSpan.FromSeconds(10), flags: 5);

        Assert.Equal(WriteStatus.Stored, Store.Append("key", "c"u8));
        Assert.Equal(WriteStatus.Stored, Store.Prepend("key", "a"u8));

        Assert.Equal("abc", Store.GetString("key"));
        Store.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(5u, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(10), info.ExpiresAt);
    }

    [Fact]
    public void Append_and_prepend_need_a_value()
    {
        Store.Set("gone", "x"u8, TimeSpan.FromSeconds(1));
        Clock.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal(WriteStatus.NotFound, Store.Append("key", "a"u8));
        Assert.Equal(WriteStatus.NotFound, Store.Prepend("key", "a"u8));
        Assert.Equal(WriteStatus.NotFound, Store.Append("gone", "a"u8));

        Assert.False(Store.Contains("key"));
        Assert.False(Store.Contains("gone"));
    }

    [Fact]
    public void Value_may_grow_byte_by_byte_over_the_size_of_a_segment()
    {
        int start = Store.GetStatistics().BytesPerSegment - 100;
        Store.Set("key", TestBytes.Of(start));

        for (int i = 0; i < 150; i++)
        {
            Assert.Equal(WriteStatus.Stored, Store.Append("key", [(byte)i]));
        }

        Assert.Equal([.. TestBytes.Of(start), .. Enumerable.Range(0, 150).Select(i => (byte)i)], Store.Get("key")!);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(8_150)]
    [InlineData(300_000)]
    public void Touch_changes_the_expiration_and_nothing_else(int length)
    {
        byte[] value = TestBytes.Of(length);
        Store.Set("key", value, TimeSpan.FromSeconds(1), flags: 6);

        Assert.Equal(WriteStatus.Stored, Store.Touch("key", TimeSpan.FromSeconds(100)));

        Clock.Advance(TimeSpan.FromSeconds(99));
        Assert.Equal(value, Store.Get("key"));
        Store.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(6u, info.Flags);
        Clock.Advance(TimeSpan.FromSeconds(1));
        Assert.False(Store.Contains("key"));
        Assert.Equal(WriteStatus.NotFound, Store.Touch("key", TimeSpan.FromSeconds(100)));
    }

    [Theory]
    [InlineData(10)]
    [InlineData(300_000)]
    public void Touch_with_a_moment_that_has_passed_removes_the_key(int length)
    {
        Store.Set("key", new byte[length]);

        Assert.Equal(WriteStatus.Stored, Store.Touch("key", Expiration.At(Clock.Now)));

        Assert.False(Store.Contains("key"));
    }

    [Fact]
    public void Touch_of_a_missing_key_finds_none()
    {
        Assert.Equal(WriteStatus.NotFound, Store.Touch("key", Expiration.None));
        Assert.False(Store.Contains("key"));
    }

    [Fact]
    public void Value_may_grow_by_appending_up_to_the_longest_there_can_be()
    {
        byte[] piece = TestBytes.Of(Store.MaxValueBytes / 32);
        Store.Set("key", [], TimeSpan.FromSeconds(10), flags: 5);

        for (int i = 0; i < 32; i++)
        {
            Assert.Equal(WriteStatus.Stored, i % 2 == 0 ? Store.Append("key", piece) : Store.Prepend("key", piece));
        }

        Assert.Equal(WriteStatus.TooLarge, Store.Append("key", "x"u8));
        Assert.Equal(WriteStatus.TooLarge, Store.Prepend("key", "x"u8));
        Assert.Equal(WriteStatus.Stored, Store.Append("key", []));
        byte[] value = Store.Get("key")!;
        Assert.Equal(Enumerable.Repeat(piece, 32).SelectMany(bytes => bytes), value);
        Store.TryGetInfo("key", out EntryInfo info);
        Assert.Equal(5u, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(10), info.ExpiresAt);
    }
}
