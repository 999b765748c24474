using System.Security.Cryptography;
using Cairn.Encryption;

namespace Cairn.Tests.Encryption;

/// <summary>
/// AES-256-GCM by the processor's instructions is AES-256-GCM: published vectors, and the framework's implementation for everything else.
/// </summary>
public sealed class AesGcmKeyTests
{
    private const string Key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
    private const string Nonce = "cafebabefacedbaddecaf888";

    private const string Message =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255";

    private const string Encrypted =
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad";

    private const string ZeroKey = "0000000000000000000000000000000000000000000000000000000000000000";
    private const string ZeroNonce = "000000000000000000000000";

    /// <summary>McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13 to 16.</summary>
    public static TheoryData<string, string, string, string, string, string> Vectors => new()
    {
        { ZeroKey, ZeroNonce, "", "", "", "530f8afbc74536b9a963b4f1c4cb738b" },
        { ZeroKey, ZeroNonce, "", "00000000000000000000000000000000", "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919" },
        { Key, Nonce, "", Message, Encrypted, "b094dac5d93471bdec1a502270e3cc6c" },
        {
            Key, Nonce, "feedfacedeadbeeffeedfacedeadbeefabaddad2", Message[..120], Encrypted[..120], "76fc6ece0f4e1768cddf8853bb2d551b"
        },
    };

    [Theory]
    [MemberData(nameof(Vectors))]
    public void Published_vectors_come_out(string key, string nonce, string associated, string message, string encrypted, string tag)
    {
        foreach (bool usesInstructions in (ReadOnlySpan<bool>)[true, false])
        {
            using var gcm = new AesGcmKey(Convert.FromHexString(key), usesInstructions);
            byte[] text = Convert.FromHexString(message);
            var made = new byte[AesGcmKey.TagBytes];

            gcm.Encrypt(Convert.FromHexString(nonce), Convert.FromHexString(associated), text, made);

            Assert.Equal(encrypted, Convert.ToHexStringLower(text));
            Assert.Equal(tag, Convert.ToHexStringLower(made));
            Assert.True(gcm.TryDecrypt(Convert.FromHexString(nonce), Convert.FromHexString(associated), text, made));
            Assert.Equal(message, Convert.ToHexStringLower(text));
        }
    }

    [Fact]
    public void Every_length_is_encrypted_as_the_framework_does()
    {
        var random = new Random(71);
        byte[] key = RandomBytes(random, AesGcmKey.KeyBytes);
        using var gcm = new AesGcmKey(key);
        using var framework = new AesGcm(key, AesGcmKey.TagBytes);
        foreach (int length in Enumerable.Range(0, 420).Concat([AesGcmKey.LongestShort - 1, AesGcmKey.LongestShort, AesGcmKey.LongestShort + 1]))
        {
            byte[] message = RandomBytes(random, length);
            byte[] associated = RandomBytes(random, length % 7 == 0 ? 48 : random.Next(140));
            byte[] nonce = RandomBytes(random, AesGcmKey.NonceBytes);
            var expected = new byte[length];
            var expectedTag = new byte[AesGcmKey.TagBytes];
            framework.Encrypt(nonce, message, expected, expectedTag, associated);
            byte[] text = [.. message];
            var tag = new byte[AesGcmKey.TagBytes];

            gcm.Encrypt(nonce, associated, text, tag);

            Assert.Equal(expected, text);
            Assert.Equal(expectedTag, tag);
            Assert.True(gcm.TryDecrypt(nonce, associated, text, tag));
            Assert.Equal(message, text);
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Any_bit_that_is_changed_is_noticed(bool usesInstructions)
    {
        var random = new Random(72);
        using var gcm = new AesGcmKey(RandomBytes(random, AesGcmKey.KeyBytes), usesInstructions);
        byte[] nonce = RandomBytes(random, AesGcmKey.NonceBytes);
        byte[] associated = RandomBytes(random, 48);
        byte[] text = RandomBytes(random, 37);
        var tag = new byte[AesGcmKey.TagBytes];
        gcm.Encrypt(nonce, associated, text, tag);
        byte[][] parts = [nonce, associated, text, tag];

        for (int part = 0; part < parts.Length; part++)
        {
            for (int bit = 0; bit < parts[part].Length * 8; bit++)
            {
                byte[][] changed = [.. parts.Select(bytes => (byte[])bytes.Clone())];
                changed[part][bit / 8] ^= (byte)(1 << (bit % 8));

                Assert.False(gcm.TryDecrypt(changed[0], changed[1], changed[2], changed[3]));
            }
        }

        Assert.True(gcm.TryDecrypt(nonce, associated, text, tag));
    }

    [Fact]
    public void Bytes_beyond_the_message_stay_as_they_are()
    {
        var random = new Random(73);
        using var gcm = new AesGcmKey(RandomBytes(random, AesGcmKey.KeyBytes));
        for (int length = 0; length < 300; length++)
        {
            byte[] room = RandomBytes(random, length + 64);
            byte[] before = [.. room];

            gcm.Encrypt(new byte[AesGcmKey.NonceBytes], before.AsSpan(0, length % 50), room.AsSpan(32, length), new byte[AesGcmKey.TagBytes]);

            Assert.Equal(before[..32], room[..32]);
            Assert.Equal(before[(32 + length)..], room[(32 + length)..]);
        }
    }

    [Fact]
    public async Task One_key_serves_many_threads()
    {
        byte[] key = RandomBytes(new Random(74), AesGcmKey.KeyBytes);
        using var gcm = new AesGcmKey(key);
        using var byFramework = new AesGcmKey(key, usesInstructions: false);

        await Task.WhenAll(Enumerable.Range(0, 4).Select(thread => Task.Run(() =>
        {
            var random = new Random(thread);
            var tag = new byte[AesGcmKey.TagBytes];
            for (int i = 0; i < 2_000; i++)
            {
                byte[] message = RandomBytes(random, random.Next(200));
                byte[] nonce = RandomBytes(random, AesGcmKey.NonceBytes);
                byte[] text = [.. message];
                (i % 2 == 0 ? gcm : byFramework).Encrypt(nonce, message, text, tag);
                Assert.True((i % 2 == 0 ? byFramework : gcm).TryDecrypt(nonce, message, text, tag));
                Assert.Equal(message, text);
            }
        })));
    }

    private static byte[] RandomBytes(Random random, int length)
    {
        var bytes = new byte[length];
        random.NextBytes(bytes);
        return bytes;
    }
}
