using System.Text;

namespace Cairn.Tests;

/// <summary>Valid and invalid keys.</summary>
public sealed class KeyTests : StoreTest
{
    private const int MaxKeyBytes = 65_536;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(255)]
    [InlineData(256)]
    [InlineData(257)]
    [InlineData(8 * 1024)]
    [InlineData(MaxKeyBytes - 1)]
    [InlineData(MaxKeyBytes)]
    public void Key_of_any_valid_length_can_be_used(int length)
    {
        byte[] key = TestBytes.Of(length);

        Assert.True(Cache.Set(key, "value"u8));

        Assert.Equal("value", Cache.GetString(key));
        Assert.True(Cache.Remove(key));
        Assert.False(Cache.Contains(key));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(MaxKeyBytes + 1)]
    public void Key_that_is_empty_or_too_long_is_refused_by_every_operation(int length)
    {
        byte[] key = TestBytes.Of(length);
        string text = new('a', length);

        foreach (Action<CairnCollection> operation in OperationsOn(key, text))
        {
            var refused = Assert.Throws<ArgumentException>(() => operation(Cache));
            Assert.Contains($"{length:N0}", refused.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void Text_with_a_lone_surrogate_is_refused_by_every_operation()
    {
        foreach (string text in (string[])["\ud800", "a\udc00b", "\udc00\ud800", new string('x', 300) + "\ud800"])
        {
            foreach (Action<CairnCollection> operation in OperationsOn([1], text).Skip(1))
            {
                Assert.Throws<ArgumentException>(() => operation(Cache));
            }
        }
    }

    [Theory]
    [InlineData("book:42")]
    [InlineData("ключ")]
    [InlineData("\U0001F5FF")]
    [InlineData("a\0b")]
    public void Text_and_its_bytes_are_one_key(string text)
    {
        Cache.Set(text, "value"u8);

        Assert.Equal("value", Cache.GetString(Encoding.UTF8.GetBytes(text)));
        Assert.Equal("value", Cache.GetString(text.AsSpan()));
        Assert.Equal("value", Cache.GetString((ReadOnlySpan<byte>)Encoding.UTF8.GetBytes(text)));
    }

    [Fact]
    public void Long_text_is_counted_in_bytes()
    {
        string longest = new('\u20AC', MaxKeyBytes / 3);

        Assert.True(Cache.Set(longest, "value"u8));
        Assert.Equal("value", Cache.GetString(Encoding.UTF8.GetBytes(longest)));
        Assert.Throws<ArgumentException>(() => Cache.Set(longest + "\u20AC", "value"u8));
    }

    [Fact]
    public void Keys_are_distinguished_by_every_byte_and_by_their_length()
    {
        byte[][] keys = [[0], [0, 0], [0, 0, 0], [1], [0, 1], [1, 0], [255], [255, 255]];
        for (int i = 0; i < keys.Length; i++)
        {
            Cache.Set(keys[i], [(byte)i]);
        }

        for (int i = 0; i < keys.Length; i++)
        {
            Assert.Equal([(byte)i], Cache.Get(keys[i])!);
        }
    }

    [Fact]
    public void Missing_key_argument_is_refused()
    {
        Assert.Throws<ArgumentNullException>(() => Cache.Set((string)null!, "value"u8));
        Assert.Throws<ArgumentNullException>(() => Cache.Set((byte[])null!, "value"u8));
        Assert.Throws<ArgumentException>(() => Cache.Set(default(CacheKey), "value"u8));
    }

    // The first operation of each pair takes bytes, the second takes text.
    private static Action<CairnCollection>[] OperationsOn(byte[] key, string text) =>
    [
        cache => cache.Set(key, "value"u8),
        cache => cache.Set(text, "value"u8),
        cache => cache.TryGet(text, new byte[8], out int _),
        cache => cache.TryGetInfo(text, out _),
        cache => cache.TryGetStale(text, new byte[8], out _),
        cache => cache.Get(text),
        cache => cache.GetString(text),
        cache => cache.Contains(text),
        cache => cache.TryGetAndTouch(text, Expiration.None, new byte[8], out _),
        cache => cache.Read(text, 0, (_, _, _) => { }),
        cache => cache.TryPin(text, out _),
        cache => cache.OpenRead(text),
        cache => cache.Add(text, "value"u8),
        cache => cache.Replace(text, "value"u8),
        cache => cache.CompareAndSwap(text, "value"u8, 1),
        cache => cache.Append(text, "value"u8),
        cache => cache.Prepend(text, "value"u8),
        cache => cache.Increment(text, 1, out _),
        cache => cache.Touch(text, Expiration.None),
        cache => cache.Remove(text),
        cache => cache.CompareAndRemove(text, 1),
        cache => cache.AcquireLease(text, TimeSpan.Zero, out _),
        cache => cache.PartitionOf(text),
        cache => cache.HashOf(text),
        cache => cache.Set(text, new MemoryStream([1]), 1),
    ];
}
