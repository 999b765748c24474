using System.Runtime.InteropServices;
using Cairn.Encryption;

namespace Cairn.Tests.Encryption;

public sealed class SipHashTests
{
    /// <summary>Some of the vectors that the authors of SipHash publish: the key is 00 to 0f, the message 00, 01, 02 and so on.</summary>
    [Theory]
    [InlineData(8, "3b62a9ba6258f5610f83e264f31497b4")]
    [InlineData(9, "264499060ad9baabc47f8b02bb6d71ed")]
    [InlineData(15, "5493e99933b0a8117e08ec0f97cfc3d9")]
    [InlineData(16, "6ee2a4ca67b054bbfd3315bf85230577")]
    [InlineData(31, "2939b0183223fafc1723de4f52c43d35")]
    [InlineData(63, "5150d1772f50834a503e069a973fbd7c")]
    public void Published_vectors_come_out(int length, string expected)
    {
        byte[] message = [.. Enumerable.Range(0, length).Select(i => (byte)i)];

        (ulong low, ulong high) = SipHash.Compute(
            0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908, MemoryMarshal.Read<ulong>(message), message.AsSpan(sizeof(ulong)));

        Assert.Equal(expected, Convert.ToHexStringLower([.. BitConverter.GetBytes(low), .. BitConverter.GetBytes(high)]));
    }

    [Fact]
    public void A_key_has_another_tag_in_another_collection_and_under_another_key_of_the_store()
    {
        using var cipher = new StoreCipher(TestBytes.Of(32, 1));
        using var same = new StoreCipher(TestBytes.Of(32, 1));
        using var other = new StoreCipher(TestBytes.Of(32, 2));

        KeyTag tag = cipher.TagOf("book:42"u8, 0);

        Assert.Equal(tag, same.TagOf("book:42"u8, 0));
        Assert.NotEqual(tag, cipher.TagOf("book:42"u8, 1));
        Assert.NotEqual(tag, cipher.TagOf("book:43"u8, 0));
        Assert.NotEqual(tag, other.TagOf("book:42"u8, 0));
    }
}
