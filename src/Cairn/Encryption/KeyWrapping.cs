using System.Security.Cryptography;

namespace Cairn.Encryption;

/// <summary>Encrypts and decrypts a store's own key. The file stores it in a <see cref="KeyBlock"/>.</summary>
internal static unsafe class KeyWrapping
{
    /// <summary>Encrypts a store's own key.</summary>
    public static KeyBlock Wrap(StoreEncryption encryption, ReadOnlySpan<byte> storeKey, ulong keyId, ulong generation)
    {
        var block = new KeyBlock
        {
            Generation = generation,
            Kind = (int)encryption.Kind,
            Iterations = encryption.Iterations,
            KeyId = keyId,
        };
        var salt = new Span<byte>(block.Salt, KeyBlock.SaltBytes);
        RandomNumberGenerator.Fill(salt);
        byte[] wrappingKey = encryption.DeriveWrappingKey(salt, block.Iterations);
        using (var key = new AesGcmKey(wrappingKey))
        {
            var wrapped = new Span<byte>(block.Wrapped, AesGcmKey.KeyBytes);
            storeKey.CopyTo(wrapped);
            key.Encrypt(
                stackalloc byte[AesGcmKey.NonceBytes] { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, KeyBlock.Covered(&block), wrapped,
                new Span<byte>(block.Tag, AesGcmKey.TagBytes));
        }

        CryptographicOperations.ZeroMemory(wrappingKey);
        block.Check = KeyBlock.CheckOf(&block);
        return block;
    }

    /// <summary>Decrypts a store's own key. Returns null if the user's key or password is wrong.</summary>
    public static byte[]? Unwrap(KeyBlock block, StoreEncryption encryption)
    {
        if ((int)encryption.Kind != block.Kind)
        {
            return null;
        }

        byte[] wrappingKey = encryption.DeriveWrappingKey(new ReadOnlySpan<byte>(block.Salt, KeyBlock.SaltBytes), block.Iterations);
        byte[] storeKey = new ReadOnlySpan<byte>(block.Wrapped, AesGcmKey.KeyBytes).ToArray();
        using var key = new AesGcmKey(wrappingKey);
        bool isRight = key.TryDecrypt(
            stackalloc byte[AesGcmKey.NonceBytes] { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, KeyBlock.Covered(&block), storeKey,
            new ReadOnlySpan<byte>(block.Tag, AesGcmKey.TagBytes));
        CryptographicOperations.ZeroMemory(wrappingKey);
        return isRight ? storeKey : null;
    }
}
