using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Cairn.Platform;

namespace Cairn.Encryption;

// What an encrypted store's entries look like to the engine, which knows nothing of it:
//
//   key    SipHash-2-4-128(tag key; collection, key)                                    16 bytes
//   value  | salt 16 | counter 8 | encrypted: key length - 1, u16 | key | value | tag 16 |
//
//   tag key, entry keys = HKDF-SHA256(store's own key, salt or none, purpose)
//
//   C1  No two messages are encrypted with one key and nonce: each opening draws a random salt, and so has an entry key of its
//       own; its nonces are a counter. After 2^32 entries it draws another.
//   C2  An entry is readable only as the value of the key, in the collection and with the flags and expiration that it was written with: the
//       tag covers them. What moves while an entry lives, its version and the current end of a sliding expiration, it does not.
//   C3  A value is returned only after its tag was found right.
//
//   C4  After Dispose has returned, the keys that are in use here are zero. The engine is closed by then, so nothing that is sealed or looked up
//       with a key of zeros can reach the file or the caller.
//
// Logs, snapshots and copies of the file hold entries as the engine has them, and so are encrypted, too.
internal sealed class StoreCipher : IDisposable
{
    /// <summary>By how much a value is longer than key and value together.</summary>
    public const int OverheadBytes = HeaderBytes + KeyLengthBytes + AesGcmKey.TagBytes;

    private const int SaltBytes = 16;
    private const int HeaderBytes = SaltBytes + sizeof(ulong);
    private const int KeyLengthBytes = sizeof(ushort);
    private const int AssociatedBytes = 48;
    private const ulong MostUses = 1UL << 32;

    // Two openings whose salts share a place cost each other a derivation, some microseconds, now and then. The key that had the place may be in
    // use by another thread, so it is left to the collector, which zeroes it (AesGcmKey).
    private const int CachedKeys = 256;

    private readonly byte[] _storeKey;
    private readonly EntryKey?[] _entryKeys = new EntryKey?[CachedKeys];
    private readonly Lock _gate = new();
    private ulong _tagKey0;
    private ulong _tagKey1;
    private EntryKey? _writing;
    private bool _isDisposed;

    public StoreCipher(byte[] storeKey)
    {
        _storeKey = storeKey;
        Span<byte> tagKey = stackalloc byte[16];
        HKDF.DeriveKey(HashAlgorithmName.SHA256, storeKey, tagKey, default, "cairn key tags"u8);
        _tagKey0 = MemoryMarshal.Read<ulong>(tagKey);
        _tagKey1 = MemoryMarshal.Read<ulong>(tagKey[8..]);
        tagKey.Clear();
    }

    /// <summary>What stands for a key in the index.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public KeyTag TagOf(ReadOnlySpan<byte> key, uint collection)
    {
        // Acquire; pairs with Dispose. A key that was zeroed is read before the engine is asked whether it is closed, so it is (C4).
        ulong key0 = Volatile.Read(ref _tagKey0);
        ulong key1 = Volatile.Read(ref _tagKey1);
        (ulong low, ulong high) = SipHash.Compute(key0, key1, collection, key);
        return new KeyTag(low, high);
    }

    /// <summary>Length of a sealed value.</summary>
    public static int SealedBytes(int keyBytes, int valueBytes) => OverheadBytes + keyBytes + valueBytes;

    /// <summary>Encrypts a value, which may be given in two parts.</summary>
    /// <param name="tag">Of the key.</param>
    /// <param name="terms">What else the entry will say.</param>
    /// <param name="key">The key.</param>
    /// <param name="first">The value, or its beginning.</param>
    /// <param name="second">The rest of it.</param>
    /// <param name="target">Receives it: <see cref="SealedBytes"/>.</param>
    public void Seal(
        in KeyTag tag, in EntryTerms terms, ReadOnlySpan<byte> key, ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, Span<byte> target)
    {
        Debug.Assert(target.Length == SealedBytes(key.Length, first.Length + second.Length), "A sealed value has one length.");
        EntryKey entryKey = WritingKey();
        ulong counter = entryKey.Next();
        if (counter > MostUses)
        {
            entryKey = ReplaceWritingKey(entryKey);
            counter = entryKey.Next();
        }

        MemoryMarshal.Write(target, entryKey.Salt);
        MemoryMarshal.Write(target[SaltBytes..], counter);
        Span<byte> message = target[HeaderBytes..^AesGcmKey.TagBytes];
        MemoryMarshal.Write(message, (ushort)(key.Length - 1));
        key.CopyTo(message[KeyLengthBytes..]);
        Span<byte> value = message[(KeyLengthBytes + key.Length)..];
        first.CopyTo(value);
        second.CopyTo(value[first.Length..]);

        Span<byte> associated = stackalloc byte[AssociatedBytes];
        terms.Write(tag, associated);
        entryKey.Key.Encrypt(NonceOf(counter, stackalloc byte[AesGcmKey.NonceBytes]), associated, message, target[^AesGcmKey.TagBytes..]);
    }

    /// <summary>Decrypts a sealed value in place.</summary>
    /// <param name="tag">Of the key.</param>
    /// <param name="terms">What else the entry says.</param>
    /// <param name="bytes">What the engine has as the value; undefined afterwards but for what is returned.</param>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <returns>False if this was not written with the store's key, under this tag and these terms.</returns>
    public bool TryOpen(
        scoped in KeyTag tag, scoped in EntryTerms terms, Span<byte> bytes, out ReadOnlySpan<byte> key, out Span<byte> value)
    {
        key = default;
        value = default;
        if (bytes.Length <= OverheadBytes)
        {
            return false; // Keys have a byte at least.
        }

        EntryKey entryKey = KeyOf(MemoryMarshal.Read<UInt128>(bytes));
        Span<byte> associated = stackalloc byte[AssociatedBytes];
        terms.Write(tag, associated);
        Span<byte> message = bytes[HeaderBytes..^AesGcmKey.TagBytes];
        ReadOnlySpan<byte> nonce = NonceOf(MemoryMarshal.Read<ulong>(bytes[SaltBytes..]), stackalloc byte[AesGcmKey.NonceBytes]);
        if (!entryKey.Key.TryDecrypt(nonce, associated, message, bytes[^AesGcmKey.TagBytes..]))
        {
            return false;
        }

        int keyBytes = MemoryMarshal.Read<ushort>(message) + 1;
        message = message[KeyLengthBytes..];
        if (keyBytes > message.Length)
        {
            return false; // Nobody with the key writes that.
        }

        key = message[..keyBytes];
        value = message[keyBytes..];
        return true;
    }

    /// <summary>Zeroes the keys. Opening and sealing then throw.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
            CryptographicOperations.ZeroMemory(_storeKey);
            _writing?.Key.Dispose();
            foreach (EntryKey? key in _entryKeys)
            {
                key?.Key.Dispose();
            }
        }

        Volatile.Write(ref _tagKey0, 0);
        Volatile.Write(ref _tagKey1, 0);
    }

    private static ReadOnlySpan<byte> NonceOf(ulong counter, Span<byte> nonce)
    {
        MemoryMarshal.Write(nonce, counter);
        MemoryMarshal.Write(nonce[sizeof(ulong)..], 0);
        return nonce;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private EntryKey KeyOf(UInt128 salt)
    {
        EntryKey? cached = Volatile.Read(ref _entryKeys[(int)((uint)salt % CachedKeys)]);
        return cached is not null && cached.Salt == salt ? cached : DeriveKeyOf(salt);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private EntryKey DeriveKeyOf(UInt128 salt)
    {
        lock (_gate)
        {
            if (_isDisposed)
            {
                CloseAtExit.HoldBack(); // Dispose has left the lock.
                throw new ObjectDisposedException(nameof(CairnStore));
            }

            EntryKey derived = Derive(salt);
            Volatile.Write(ref _entryKeys[(int)((uint)salt % CachedKeys)], derived);
            return derived;
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private EntryKey WritingKey() => Volatile.Read(ref _writing) ?? ReplaceWritingKey(null);

    // C1
    [MethodImpl(MethodImplOptions.NoInlining)]
    private EntryKey ReplaceWritingKey(EntryKey? usedUp)
    {
        lock (_gate)
        {
            if (!ReferenceEquals(_writing, usedUp))
            {
                return _writing!;
            }

            Span<byte> salt = stackalloc byte[SaltBytes];
            RandomNumberGenerator.Fill(salt);
            EntryKey key = DeriveKeyOf(MemoryMarshal.Read<UInt128>(salt));
            Volatile.Write(ref _writing, key);
            return key;
        }
    }

    private EntryKey Derive(UInt128 salt)
    {
        Span<byte> key = stackalloc byte[AesGcmKey.KeyBytes];
        HKDF.DeriveKey(
            HashAlgorithmName.SHA256, _storeKey, key, MemoryMarshal.AsBytes(new ReadOnlySpan<UInt128>(in salt)), "cairn entries"u8);
        var entryKey = new EntryKey(salt, new AesGcmKey(key));
        key.Clear();
        return entryKey;
    }
}
