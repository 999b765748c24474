using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Cairn.Indexing;

namespace Cairn.Encryption;

// A store's own key as its file keeps it: encrypted with a key that is derived from the user's key or password.
//
//   wrapping key = kind Key:      HKDF-SHA256(key, salt)
//                  kind Password: PBKDF2-SHA256(password, salt, iterations)
//   wrapped, tag = AES-256-GCM(wrapping key, nonce 0, store's own key), which covers bytes 8..63 as well
//
//   I1  Each block has a salt of its own, so no wrapping key is ever used twice: the nonce needs not vary.
//   I2  A file has room for two blocks. The one with the higher generation counts, if it is whole: a change writes the other
//       place, brings it to disk, and only then clears the first. So the file has a whole block at any moment, also after a loss of power.
//   I3  The check finds damage. A wrong key or password is told apart by the tag alone.
[StructLayout(LayoutKind.Explicit, Size = Bytes)]
internal unsafe struct KeyBlock
{
    public const int Bytes = 128;
    public const int SaltBytes = 32;

    /// <summary>More than anybody would wait for: a number that is higher was damaged.</summary>
    public const int MostIterations = 100_000_000;

    private const int CoveredFrom = 8;
    private const int CoveredBytes = 56;

    [FieldOffset(0)] public ulong Generation;
    [FieldOffset(8)] public int Kind;
    [FieldOffset(12)] public int Iterations;
    [FieldOffset(16)] public fixed byte Salt[SaltBytes];

    /// <summary>Random, another for each key of a store's own; and reserved bytes behind it.</summary>
    [FieldOffset(48)] public ulong KeyId;
    [FieldOffset(64)] public fixed byte Wrapped[AesGcmKey.KeyBytes];
    [FieldOffset(96)] public fixed byte Tag[AesGcmKey.TagBytes];

    /// <summary>Hash of all before it.</summary>
    [FieldOffset(120)] public ulong Check;

    /// <summary>Whether there is a block, and it is as it was written.</summary>
    public readonly bool IsWhole
    {
        get
        {
            KeyBlock copy = this;
            return copy.Generation != 0 && copy.Check == CheckOf(&copy)
                && ((KeyKind)copy.Kind == KeyKind.Key || ((KeyKind)copy.Kind == KeyKind.Password && copy.Iterations is > 0 and <= MostIterations));
        }
    }

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
        var salt = new Span<byte>(block.Salt, SaltBytes);
        RandomNumberGenerator.Fill(salt);
        byte[] wrappingKey = encryption.DeriveWrappingKey(salt, block.Iterations);
        using (var key = new AesGcmKey(wrappingKey))
        {
            var wrapped = new Span<byte>(block.Wrapped, AesGcmKey.KeyBytes);
            storeKey.CopyTo(wrapped);
            key.Encrypt(
                stackalloc byte[AesGcmKey.NonceBytes] { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, Covered(&block), wrapped,
                new Span<byte>(block.Tag, AesGcmKey.TagBytes));
        }

        CryptographicOperations.ZeroMemory(wrappingKey);
        block.Check = CheckOf(&block);
        return block;
    }

    /// <summary>Decrypts a store's own key. Null if the user's key or password is not the one.</summary>
    public readonly byte[]? Unwrap(StoreEncryption encryption)
    {
        if ((int)encryption.Kind != Kind)
        {
            return null;
        }

        KeyBlock copy = this;
        byte[] wrappingKey = encryption.DeriveWrappingKey(new ReadOnlySpan<byte>(copy.Salt, SaltBytes), copy.Iterations);
        byte[] storeKey = new ReadOnlySpan<byte>(copy.Wrapped, AesGcmKey.KeyBytes).ToArray();
        using var key = new AesGcmKey(wrappingKey);
        bool isRight = key.TryDecrypt(
            stackalloc byte[AesGcmKey.NonceBytes] { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, Covered(&copy), storeKey,
            new ReadOnlySpan<byte>(copy.Tag, AesGcmKey.TagBytes));
        CryptographicOperations.ZeroMemory(wrappingKey);
        return isRight ? storeKey : null;
    }

    private static ReadOnlySpan<byte> Covered(KeyBlock* block) => new((byte*)block + CoveredFrom, CoveredBytes);

    private static ulong CheckOf(KeyBlock* block) => KeyHash.Compute((byte*)block, (int)((byte*)&block->Check - (byte*)block), 0);
}
