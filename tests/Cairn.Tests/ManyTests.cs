using System.Text;

namespace Cairn.Tests;

/// <summary>GetMany and SetMany.</summary>
public sealed class ManyTests : StoreTest
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(15)]
    [InlineData(16)]
    [InlineData(17)]
    [InlineData(100)]
    public void Values_of_many_keys_are_copied_one_behind_the_other(int count)
    {
        ReadOnlyMemory<byte>[] keys = [.. Enumerable.Range(0, count).Select(Key)];
        for (int i = 0; i < count; i++)
        {
            if (i % 3 != 0)
            {
                Cache.Set(keys[i].Span, TestBytes.Of(i, seed: i), flags: (uint)i);
            }
        }

        var buffer = new byte[count * count];
        var results = new GetManyResult[count];

        Assert.Equal(count, Cache.GetMany(keys, buffer, results));

        int offset = 0;
        for (int i = 0; i < count; i++)
        {
            Assert.Equal(i % 3 != 0, results[i].IsHit);
            if (results[i].IsHit)
            {
                Assert.Equal(offset, results[i].Offset);
                Assert.Equal((uint)i, results[i].Info.Flags);
                Assert.Equal(TestBytes.Of(i, seed: i), buffer.AsSpan(results[i].Offset, results[i].Info.ValueBytes).ToArray());
                offset += i;
            }
        }
    }

    [Fact]
    public void Keys_after_the_first_value_that_does_not_fit_are_left()
    {
        ReadOnlyMemory<byte>[] keys = [.. Enumerable.Range(0, 40).Select(Key)];
        foreach (ReadOnlyMemory<byte> key in keys)
        {
            Cache.Set(key.Span, TestBytes.Of(10));
        }

        var results = new GetManyResult[40];

        Assert.Equal(20, Cache.GetMany(keys, new byte[209], results));

        Assert.All(results[..20], result => Assert.True(result.IsHit));
        Assert.All(results[20..], result => Assert.Equal(default, result));
        Assert.Equal(0, Cache.GetMany(keys, new byte[9], results));
        Assert.Equal(20, Cache.GetMany(keys.AsSpan(20), new byte[200], results));
    }

    [Fact]
    public void Key_may_be_asked_for_twice()
    {
        Cache.Set("a"u8, "value"u8);
        ReadOnlyMemory<byte>[] keys = ["a"u8.ToArray(), "b"u8.ToArray(), "a"u8.ToArray()];
        var results = new GetManyResult[3];
        var buffer = new byte[10];

        Assert.Equal(3, Cache.GetMany(keys, buffer, results));

        Assert.Equal("valuevalue"u8, buffer);
        Assert.Equal([true, false, true], results.Select(result => result.IsHit));
    }

    [Fact]
    public void Arguments_of_get_many_are_checked()
    {
        ReadOnlyMemory<byte>[] keys = ["a"u8.ToArray(), default];

        Assert.Throws<ArgumentException>(() => Cache.GetMany(keys, new byte[8], new GetManyResult[1]));
        Assert.Throws<ArgumentException>(() => Cache.GetMany(keys, new byte[8], new GetManyResult[2]));
    }

    [Fact]
    public void Many_values_are_stored_and_the_later_of_two_stays()
    {
        StoreItem[] items =
        [
            .. Enumerable.Range(0, 30).Select(i => new StoreItem(Key(i), TestBytes.Of(i * 100))),
            new(Key(5), "later"u8.ToArray(), TimeSpan.FromSeconds(1), Flags: 8),
        ];

        Assert.Equal(31, Cache.SetMany(items));

        Assert.Equal("later", Cache.GetString(Key(5).Span));
        Cache.TryGetInfo(Key(5).Span, out EntryInfo info);
        Assert.Equal(8u, info.Flags);
        Assert.Equal(Clock.Now + TimeSpan.FromSeconds(1), info.ExpiresAt);
        Assert.Equal(TestBytes.Of(2900), Cache.Get(Key(29).Span));
        Assert.Equal(0, Cache.SetMany([]));
    }

    [Fact]
    public void Items_before_one_that_is_too_long_are_stored()
    {
        StoreItem[] items =
        [
            new(Key(1), "value"u8.ToArray()),
            new(Key(2), new byte[Store.MaxValueBytes + 1]),
            new(Key(3), "value"u8.ToArray()),
        ];

        Assert.Throws<ArgumentOutOfRangeException>(() => Cache.SetMany(items));

        Assert.True(Cache.Contains(Key(1).Span));
        Assert.False(Cache.Contains(Key(3).Span));
    }

    private static ReadOnlyMemory<byte> Key(int i) => Encoding.UTF8.GetBytes($"key {i}");
}
