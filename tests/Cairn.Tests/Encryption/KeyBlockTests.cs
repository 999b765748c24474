using System.Runtime.InteropServices;
using System.Text;
using Cairn.Encryption;
using Cairn.Storage;

namespace Cairn.Tests.Encryption;

public sealed class KeyBlockTests
{
    private static readonly byte[] StoreKey = TestBytes.Of(32, 9);

    /// <summary>The vectors of RFC 7914, section 11, and the usual vectors for PBKDF2 with SHA-256. Each is the first 32 bytes.</summary>
    [Theory]
    [InlineData("passwd", "salt", 1, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc")]
    [InlineData("password", "salt", 4096, "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a")]
    public void A_password_becomes_a_key_by_PBKDF2(string password, string salt, int iterations, string expected)
    {
        byte[] key = StoreEncryption.FromPassword(password).DeriveWrappingKey(Encoding.ASCII.GetBytes(salt), iterations);

        Assert.Equal(expected, Convert.ToHexStringLower(key));
    }

    [Fact]
    public void A_wrapped_key_comes_out_again_with_the_same_key_or_password_only()
    {
        StoreEncryption[] each = [ByKey(1), ByKey(2), ByPassword("right"), ByPassword("wrong")];

        foreach (StoreEncryption encryption in each)
        {
            KeyBlock block = KeyWrapping.Wrap(encryption, StoreKey, keyId: 5, generation: 1);

            Assert.True(block.IsWhole);
            Assert.All(each, other => Assert.Equal(ReferenceEquals(other, encryption) ? StoreKey : null, KeyWrapping.Unwrap(block, other)));
        }
    }

    [Fact]
    public void A_key_is_wrapped_differently_each_time()
    {
        KeyBlock first = KeyWrapping.Wrap(ByKey(1), StoreKey, keyId: 5, generation: 1);
        KeyBlock second = KeyWrapping.Wrap(ByKey(1), StoreKey, keyId: 5, generation: 1);

        Assert.NotEqual(BytesOf(first), BytesOf(second));
        Assert.Equal(-1, BytesOf(first).AsSpan().IndexOf(StoreKey));
    }

    [Fact]
    public void Any_bit_that_is_changed_is_damage_and_also_with_its_check_made_good_a_wrong_key()
    {
        KeyBlock block = KeyWrapping.Wrap(ByKey(1), StoreKey, keyId: 5, generation: 1);

        for (int bit = 0; bit < KeyBlock.Bytes * 8; bit++)
        {
            byte[] bytes = BytesOf(block);
            bytes[bit / 8] ^= (byte)(1 << (bit % 8));
            KeyBlock changed = MemoryMarshal.Read<KeyBlock>(bytes);

            Assert.False(changed.IsWhole);
            if (bit / 8 is >= 8 and < 112)
            {
                Assert.Null(KeyWrapping.Unwrap(changed, ByKey(1)));
            }
        }
    }

    [Fact]
    public void Keys_and_passwords_are_checked()
    {
        Assert.Throws<ArgumentException>(() => StoreEncryption.FromKey(new byte[31]));
        Assert.Throws<ArgumentException>(() => StoreEncryption.FromPassword(""));
        Assert.Throws<ArgumentException>(() => StoreEncryption.FromPassword("half \uD800 of a pair"));
        Assert.Throws<ArgumentNullException>(() => StoreEncryption.FromPassword(null!));
    }

    [Fact]
    public void Printed_options_do_not_contain_the_key()
    {
        var options = new StoreOptions { Path = "store.cairn", Encryption = ByPassword("the password") };

        Assert.DoesNotContain("password", options.ToString(), StringComparison.Ordinal);
    }

    private static StoreEncryption ByKey(int seed) => StoreEncryption.FromKey(TestBytes.Of(32, seed));

    private static StoreEncryption ByPassword(string password) => StoreEncryption.FromPassword(password, iterations: 10);

    private static byte[] BytesOf(KeyBlock block) => MemoryMarshal.AsBytes(new ReadOnlySpan<KeyBlock>(in block)).ToArray();
}
