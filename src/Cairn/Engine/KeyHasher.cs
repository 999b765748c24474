using System.Security.Cryptography;
using System.Text.Unicode;
using Cairn.Encryption;
using Cairn.Keys;

namespace Cairn.Engine;

/// <summary>Computes the hash of text keys of one collection, for caches above the store that find their entries by the store's own hash.</summary>
internal readonly unsafe struct KeyHasher
{
    private readonly ulong _seed;
    private readonly StoreCipher? _cipher;
    private readonly uint _collection;

    private KeyHasher(ulong seed, StoreCipher? cipher = null, uint collection = 0)
    {
        _seed = seed;
        _cipher = cipher;
        _collection = collection;
    }

    /// <summary>Returns the hash function of a collection's keys, as the store reports their hashes with changes.</summary>
    public static KeyHasher Of(StoreEngine engine, uint collection) =>
        new(KeyHash.SeedOf(collection, engine.Memory.KeySeed), engine.Cipher, collection);

    /// <summary>Returns a hash function with a random, secret seed.</summary>
    public static KeyHasher Random()
    {
        Span<byte> seed = stackalloc byte[8];
        RandomNumberGenerator.Fill(seed);
        return new(BitConverter.ToUInt64(seed));
    }

    /// <summary>Returns the hash of a key. Text that is not a valid key also has a hash, but the store does not use it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong Hash(ReadOnlySpan<char> key) =>
        _cipher is null && AsciiKey.TryCreate(key, out AsciiKey ascii) ? ascii.Hash(_seed) : HashOther(key);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ulong HashOther(ReadOnlySpan<char> key) =>
        _cipher is null && ShortAsciiKey.TryCreate(key, out ShortAsciiKey ascii) ? ascii.Hash(_seed) : HashEncoded(key);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ulong HashEncoded(ReadOnlySpan<char> key)
    {
        byte[]? rented = null;
        Span<byte> buffer = key.Length <= EncodedKey.StackBytes / 3
            ? stackalloc byte[EncodedKey.StackBytes]
            : rented = ArrayPool<byte>.Shared.Rent(key.Length * 3);
        Utf8.FromUtf16(key, buffer, out _, out int written);
        fixed (byte* bytes = buffer)
        {
            ulong hash = _cipher is null
                ? KeyHash.Compute(bytes, written, _seed)
                : _cipher.TagOf(buffer[..written], _collection).Hash(_seed);
            if (rented is not null)
            {
                ArrayPool<byte>.Shared.Return(rented);
            }

            return hash;
        }
    }
}
