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

        Assert.True(Store.Set(key, "value"u8));

        Assert.Equal("value", Store.GetString(key));
        Assert.True(Store.Remove(key));
        Assert.False(Store.Contains(key));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(MaxKeyBytes + 1)]
    public void Key_that_is_empty_or_too_long_is_refused_by_every_operation(int length)
    {
        byte[] key = TestBytes.Of(length);
        string text = new('a', length);

        foreach (Action<CairnStore> operation in OperationsOn(key, text))
        {
            var refused = Assert.Throws<ArgumentException>(() => operation(Store));
            Assert.Contains($"{length:N0}", refused.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void Text_with_a_lone_surrogate_is_refused_by_every_operation()
    {
        foreach (string text in (string[])["\ud800", "a\udc00b", "\udc00\ud800", new string('x', 300) + "\ud800"])
        {
            foreach (Action<CairnStore> operation in OperationsOn([1], text).Skip(1))
            {
                Assert.Throws<ArgumentException>(() => operation(Store));
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
        Store.Set(text, "value"u8);

        Assert.Equal("value", Store.GetString(Encoding.UTF8.GetBytes(text)));
        Assert.Equal("value", Store.GetString(text.AsSpan()));
        Assert.Equal("value", Store.GetString((ReadOnlySpan<byte>)Encoding.UTF8.GetBytes(text)));
    }

    [Fact]
    public void Long_text_is_counted_in_bytes()
    {
        string longest = new('\u20AC', MaxKeyBytes / 3);

        Assert.True(Store.Set(longest, "value"u8));
        Assert.Equal("value", Store.GetString(Encoding.UTF8.GetBytes(longest)));
        Assert.Throws<ArgumentException>(() => Store.Set(longest + "\u20AC", "value"u8));
    }

    [Fact]
    public void Keys_are_told_apart_by_every_byte_and_by_their_length()
    {
        byte[][] keys = [[0], [0, 0], [0, 0, 0], [1], [0, 1], [1, 0], [255], [255, 255]];
        for (int i = 0; i < keys.Length; i++)
        {
            Store.Set(keys[i], [(byte)i]);
        }

        for (int i = 0; i < keys.Length; i++)
        {
            Assert.Equal([(byte)i], Store.Get(keys[i])!);
        }
    }

    [Fact]
    public void Missing_key_argument_is_refused()
    {
        Assert.Throws<ArgumentNullException>(() => Store.Set((string)null!, "value"u8));
        Assert.Throws<ArgumentNullException>(() => Store.Set((byte[])null!, "value"u8));
        Assert.Throws<ArgumentException>(() => Store.Set(default(CacheKey), "value"u8));
    }

    // The first operation of each pair takes bytes, the second takes text.
    private static Action<CairnStore>[] OperationsOn(byte[] key, string text) =>
    [
        store => store.Set(key, "value"u8),
        store => store.Set(text, "value"u8),
        store => store.TryGet(text, new byte[8], out int _),
        store => store.TryGetInfo(text, out _),
        store => store.TryGetStale(text, new byte[8], out _),
        store => store.Get(text),
        store => store.GetString(text),
        store => store.Contains(text),
        store => store.TryGetAndTouch(text, Expiration.None, new byte[8], out _),
        store => store.Read(text, 0, (_, _, _) => { }),
        store => store.TryPin(text, out _),
        store => store.OpenRead(text),
        store => store.Add(text, "value"u8),
        store => store.Replace(text, "value"u8),
        store => store.CompareAndSwap(text, "value"u8, 1),
        store => store.Append(text, "value"u8),
        store => store.Prepend(text, "value"u8),
        store => store.Increment(text, 1, out _),
        store => store.Touch(text, Expiration.None),
        store => store.Remove(text),
        store => store.CompareAndRemove(text, 1),
        store => store.AcquireLease(text, TimeSpan.Zero, out _),
        store => store.PartitionOf(text),
        store => store.HashOf(text),
        store => store.Set(text, new MemoryStream([1]), 1),
    ];
}
