using System.Text;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn.Tests.Keys;

public sealed unsafe class ShortAsciiKeyTests
{
    [Fact]
    public void Text_of_every_length_hashes_compares_and_is_stored_like_its_bytes()
    {
        for (int length = 1; length <= 15; length++)
        {
            string text = new([.. Enumerable.Range(0, length).Select(i => (char)('!' + ((i * 7) % 90)))]);
            byte[] bytes = Encoding.ASCII.GetBytes(text);
            byte[] copy = new byte[length + 2];

            Assert.True(ShortAsciiKey.TryCreate(text, out ShortAsciiKey key));
            fixed (byte* stored = bytes)
            fixed (byte* target = copy)
            {
                Assert.Equal(KeyHash.Compute(stored, length, 42), key.Hash(42));
                key.Store(target + 1);
                Assert.True(key.EqualsStored(stored));
                for (int i = 0; i < length; i++)
                {
                    bytes[i] ^= 1;
                    Assert.False(key.EqualsStored(stored), $"length {length}, byte {i}");
                    bytes[i] ^= 1;
                }
            }

            Assert.Equal([0, .. bytes, 0], copy);
        }
    }

    [Fact]
    public void Text_that_is_not_ASCII_or_has_another_length_is_declined()
    {
        Assert.False(ShortAsciiKey.TryCreate("", out _));
        Assert.False(ShortAsciiKey.TryCreate(new string('a', 16), out _));
        for (int length = 1; length <= 15; length++)
        {
            for (int i = 0; i < length; i++)
            {
                char[] text = new string('a', length).ToCharArray();
                text[i] = 'ā';
                Assert.False(ShortAsciiKey.TryCreate(text, out _), $"length {length}, character {i}");
                text[i] = '\u0080';
                Assert.False(ShortAsciiKey.TryCreate(text, out _), $"length {length}, character {i}");
            }
        }
    }
}
