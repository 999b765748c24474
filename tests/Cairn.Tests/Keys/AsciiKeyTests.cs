using System.Text;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn.Tests.Keys;

public sealed unsafe class AsciiKeyTests
{
    [Fact]
    public void Text_of_every_length_hashes_and_compares_like_its_bytes()
    {
        for (int length = 16; length <= 32; length++)
        {
            string text = new([.. Enumerable.Range(0, length).Select(i => (char)('!' + ((i * 7) % 90)))]);
            byte[] bytes = Encoding.ASCII.GetBytes(text);

            Assert.True(AsciiKey.TryCreate(text, out AsciiKey key));
            fixed (byte* stored = bytes)
            {
                Assert.Equal(KeyHash.Compute(stored, length, 42), key.Hash(42));
                Assert.True(key.EqualsStored(stored));
                for (int i = 0; i < length; i++)
                {
                    bytes[i] ^= 1;
                    Assert.False(key.EqualsStored(stored), $"length {length}, byte {i}");
                    bytes[i] ^= 1;
                }
            }
        }
    }

    [Fact]
    public void Text_that_is_not_ASCII_or_has_another_length_is_declined()
    {
        Assert.False(AsciiKey.TryCreate(new string('a', 15), out _));
        Assert.False(AsciiKey.TryCreate(new string('a', 33), out _));
        for (int i = 0; i < 24; i++)
        {
            char[] text = new string('a', 24).ToCharArray();
            text[i] = 'ā';
            Assert.False(AsciiKey.TryCreate(text, out _), $"character {i}");
            text[i] = '\u0080';
            Assert.False(AsciiKey.TryCreate(text, out _), $"character {i}");
        }
    }
}
