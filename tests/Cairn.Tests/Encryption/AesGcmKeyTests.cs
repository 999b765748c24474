using System.Security.Cryptography;
using Cairn.Encryption;

namespace Cairn.Tests.Encryption;

public sealed class AesGcmKeyTests
{
    private static readonly byte[] Key = TestBytes.Of(AesGcmKey.KeyBytes, 74);

    [Fact]
    public async Task One_key_serves_many_threads()
    {
        using var key = new AesGcmKey(Key);

        await Task.WhenAll(Enumerable.Range(0, 8).Select(thread => Task.Run(() =>
        {
            using var other = new AesGcm(Key, AesGcmKey.TagBytes);
            var random = new Random(thread);
            var tag = new byte[AesGcmKey.TagBytes];
            for (int i = 0; i < 2_000; i++)
            {
                byte[] message = RandomBytes(random, random.Next(200));
                byte[] nonce = RandomBytes(random, AesGcmKey.NonceBytes);
                byte[] text = [.. message];
                key.Encrypt(nonce, message, text, tag);
                var decrypted = new byte[text.Length];
                other.Decrypt(nonce, text, tag, decrypted, message);
                Assert.Equal(message, decrypted);
                Assert.True(key.TryDecrypt(nonce, message, text, tag));
                Assert.Equal(message, text);
            }
        })));
    }

    [Fact]
    public void A_key_that_found_a_wrong_tag_continues_as_before()
    {
        using var key = new AesGcmKey(Key);
        var nonce = new byte[AesGcmKey.NonceBytes];
        var tag = new byte[AesGcmKey.TagBytes];
        byte[] text = [1, 2, 3];
        key.Encrypt(nonce, [], text, tag);

        Assert.False(key.TryDecrypt(nonce, [9], [.. text], tag));
        Assert.True(key.TryDecrypt(nonce, [], text, tag));
        Assert.Equal([1, 2, 3], text);
    }

    [Fact]
    public void Operations_allocate_nothing()
    {
        using var key = new AesGcmKey(Key);
        var nonce = new byte[AesGcmKey.NonceBytes];
        var tag = new byte[AesGcmKey.TagBytes];
        var text = new byte[100];
        Use(100);
        long before = GC.GetAllocatedBytesForCurrentThread();

        Use(10_000);

        // An instance is made where the system interrupts the thread within an operation, or moves it to another processor.
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 10_000);

        void Use(int times)
        {
            for (int i = 0; i < times; i++)
            {
                key.Encrypt(nonce, default, text, tag);
                Assert.True(key.TryDecrypt(nonce, default, text, tag));
            }
        }
    }

    [Fact]
    public void A_key_that_is_disposed_of_while_threads_use_it_yields_right_results_or_an_error()
    {
        for (int round = 0; round < 100; round++)
        {
            var key = new AesGcmKey(Key);
            using var started = new CountdownEvent(3);
            Thread[] threads = [.. Enumerable.Range(0, 3).Select(_ => new Thread(() => Assert.Throws<ObjectDisposedException>(() => UseUntilDisposed(key, started))))];
            Array.ForEach(threads, thread => thread.Start());
            started.Wait();

            key.Dispose();

            Array.ForEach(threads, thread => thread.Join());
        }
    }

    [Fact]
    public void A_system_without_the_cipher_is_named_as_the_reason()
    {
        PlatformNotSupportedException error = Assert.Throws<PlatformNotSupportedException>(() => StoreEncryption.RequireCipher(isSupported: false));

        Assert.Contains("AES-GCM", error.Message, StringComparison.Ordinal);
        Assert.Contains("install OpenSSL", error.Message, StringComparison.Ordinal);
    }

    private static void UseUntilDisposed(AesGcmKey key, CountdownEvent started)
    {
        var nonce = new byte[AesGcmKey.NonceBytes];
        var expected = new byte[20];
        var expectedTag = new byte[AesGcmKey.TagBytes];
        using (var other = new AesGcm(Key, AesGcmKey.TagBytes))
        {
            other.Encrypt(nonce, new byte[20], expected, expectedTag);
        }

        var tag = new byte[AesGcmKey.TagBytes];
        for (int i = 0; ; i++)
        {
            var text = new byte[20];
            key.Encrypt(nonce, default, text, tag);
            if (!text.AsSpan().SequenceEqual(expected) || !tag.AsSpan().SequenceEqual(expectedTag))
            {
                throw new InvalidDataException("Encrypted with another key.");
            }

            if (i == 0)
            {
                started.Signal();
            }
        }
    }

    private static byte[] RandomBytes(Random random, int length)
    {
        var bytes = new byte[length];
        random.NextBytes(bytes);
        return bytes;
    }
}
