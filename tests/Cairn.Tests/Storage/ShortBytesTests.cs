using Cairn.Storage;

namespace Cairn.Tests.Storage;

public sealed unsafe class ShortBytesTests
{
    private const int Longest = 70;
    private const int Margin = 32;
    private const byte Untouched = 0xEE;

    [Fact]
    public void Bytes_of_every_length_are_equal_to_themselves_and_unequal_where_any_one_differs()
    {
        byte* left = stackalloc byte[Longest];
        byte* right = stackalloc byte[Longest];
        for (int length = 1; length <= Longest; length++)
        {
            for (int i = 0; i < length; i++)
            {
                left[i] = right[i] = (byte)(i * 7);
            }

            Assert.True(ShortBytes.AreEqual(left, right, length));
            for (int i = 0; i < length; i++)
            {
                right[i] ^= 0x80;
                Assert.False(ShortBytes.AreEqual(left, right, length), $"{length} bytes, number {i} differs");
                right[i] ^= 0x80;
            }
        }
    }

    [Fact]
    public void Bytes_of_every_length_are_copied_and_none_beyond_them()
    {
        byte[] source = [.. Enumerable.Range(0, Longest).Select(i => (byte)(i + 1))];
        for (int length = 0; length <= Longest; length++)
        {
            byte[] target = [.. Enumerable.Repeat(Untouched, Margin + length + Margin)];
            fixed (byte* from = source, to = target)
            {
                ShortBytes.Copy(from, to + Margin, length);
            }

            Assert.Equal(source.AsSpan(0, length), target.AsSpan(Margin, length));
            Assert.All(target[..Margin].Concat(target[(Margin + length)..]), b => Assert.Equal(Untouched, b));
        }
    }
}
