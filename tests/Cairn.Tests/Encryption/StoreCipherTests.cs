using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Storage;

namespace Cairn.Tests.Encryption;

/// <summary>The encrypted bytes of the file format did not change. Each vector was written before the cipher was the framework's.</summary>
public sealed class StoreCipherTests : StoreTest
{
    private const uint Collection = 3;

    private static readonly byte[] StoreKey = [.. Enumerable.Range(0, AesGcmKey.KeyBytes).Select(i => (byte)i)];
    private static readonly EntryTerms Terms = EntryTerms.Of(Collection, 5, default);

    [Fact]
    public void An_entry_that_was_written_before_is_opened()
    {
        const string Sealed =
            "618eceb8a86bc59902a24791f4ef0b3301000000000000004270cb40eaaab7a857e5adee06f9e9a1fef3f8e4edef9ac566cad79313";
        using var cipher = new StoreCipher([.. StoreKey]);
        KeyTag tag = cipher.TagOf("book:42"u8, Collection);

        Assert.Equal("610cbeb63b626af906c722fcaa0a80ff", Convert.ToHexStringLower(MemoryMarshal.AsBytes(new ReadOnlySpan<KeyTag>(in tag))));
        Assert.True(cipher.TryOpen(tag, Terms, Convert.FromHexString(Sealed), out ReadOnlySpan<byte> key, out Span<byte> value));
        Assert.Equal("book:42"u8.ToArray(), key.ToArray());
        Assert.Equal([0, 7, 14, 21], value.ToArray());
    }

    [Fact]
    public void Sealed_bytes_are_AES_256_GCM_as_in_the_format()
    {
        using var cipher = new StoreCipher([.. StoreKey]);
        KeyTag tag = cipher.TagOf("book:42"u8, Collection);
        foreach (int length in (int[])[0, 1, 100, 20_000])
        {
            byte[] value = TestBytes.Of(length);
            var bytes = new byte[StoreCipher.SealedBytes(7, length)];

            cipher.Seal(tag, Terms, "book:42"u8, value.AsSpan(0, length / 2), value.AsSpan(length / 2), bytes);

            byte[] entryKey = HKDF.DeriveKey(HashAlgorithmName.SHA256, StoreKey, AesGcmKey.KeyBytes, bytes[..16], "cairn entries"u8.ToArray());
            byte[] nonce = [.. bytes[16..24], 0, 0, 0, 0];
            var associated = new byte[48];
            Terms.Write(tag, associated);
            using var framework = new AesGcm(entryKey, AesGcmKey.TagBytes);
            var opened = new byte[bytes.Length - 40];
            framework.Decrypt(nonce, bytes.AsSpan(24..^16), bytes.AsSpan(^16..), opened, associated);
            Assert.Equal([6, 0, .. "book:42"u8, .. value], opened);
        }
    }

    [Theory]
    [InlineData(
        false,
        "01000000000000000100000000000000b1d6e894e5602a84da7b634938a196a34b6266dffa68bd2c7719c99e754c3bc605000000000000000000000000000000" +
        "886e046c5f120f47297cca57ca592342ee922faf2597539b081d606b3865eed5aad47442a843212d1f713b3a4dbedd2a0000000000000000c2854305418bc179")]
    [InlineData(
        true,
        "0100000000000000020000000a00000036adf2e27b7f12baf88e5f10bab07ae8a0d096a9f56398cbe5659a99da716c5105000000000000000000000000000000" +
        "7213e9405fb2e19d6dab0aba414c66cccd6a4c571adac7a2838257cb25bdf3819e5a4232925ad09fd6b026c1c4d3b03900000000000000007aef958c4d8e8557")]
    public void A_key_that_was_wrapped_before_is_unwrapped(bool isPassword, string bytes)
    {
        StoreEncryption encryption = isPassword
            ? StoreEncryption.FromPassword("right", iterations: 10)
            : StoreEncryption.FromKey([.. Enumerable.Range(100, AesGcmKey.KeyBytes).Select(i => (byte)i)]);
        KeyBlock block = MemoryMarshal.Read<KeyBlock>(Convert.FromHexString(bytes));

        Assert.True(block.IsWhole);
        Assert.Equal(StoreKey, KeyWrapping.Unwrap(block, encryption));
    }

    [Fact]
    public void A_cipher_that_is_disposed_of_has_no_key_left()
    {
        byte[] storeKey = [.. StoreKey];
        var cipher = new StoreCipher(storeKey);
        KeyTag tag = cipher.TagOf("key"u8, Collection);
        var bytes = new byte[StoreCipher.SealedBytes(3, 5)];
        cipher.Seal(tag, Terms, "key"u8, "value"u8, default, bytes);

        cipher.Dispose();

        Assert.Equal(new byte[AesGcmKey.KeyBytes], storeKey);
        Assert.NotEqual(tag, cipher.TagOf("key"u8, Collection));
        Assert.Throws<ObjectDisposedException>(() => cipher.TryOpen(tag, Terms, [.. bytes], out _, out _));
        Assert.Throws<ObjectDisposedException>(() => cipher.Seal(tag, Terms, "key"u8, "value"u8, default, bytes));
        Assert.Throws<ObjectDisposedException>(() => cipher.TryOpen(tag, Terms, new byte[100], out _, out _)); // With another salt.
    }

    [Fact]
    public void A_store_that_is_closed_disposes_of_its_cipher()
    {
        CairnStore store = Open(Options with { Encryption = StoreEncryption.FromKey(StoreKey) });
        CairnCollection cache = store.DefaultCollection;
        cache.Set("key", "value"u8);
        StoreCipher cipher = store.Engine.Cipher!;

        store.Dispose();

        Assert.Throws<ObjectDisposedException>(() => cipher.TryOpen(default, Terms, new byte[100], out _, out _));
        Assert.Throws<ObjectDisposedException>(() => cache.Get("key"));
        Assert.Throws<ObjectDisposedException>(() => cache.Set("key", "value"u8));
    }

    [Fact]
    public void Entries_of_more_openings_than_keys_are_kept_ready_are_read()
    {
        const int Openings = 400;
        StoreOptions options = Options with { Encryption = StoreEncryption.FromKey(StoreKey) };
        for (int i = 0; i < Openings; i++)
        {
            using CairnStore store = CairnStore.Open(options);
            store.DefaultCollection.Set($"key:{i}", "value"u8);
        }

        CairnStore reader = Open(options);

        for (int round = 0; round < 2; round++)
        {
            Assert.All(Enumerable.Range(0, Openings), i => Assert.Equal("value", reader.DefaultCollection.GetString($"key:{i}")));
        }
    }
}
