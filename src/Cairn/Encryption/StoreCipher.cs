using System.Security.Cryptography;
using Cairn.Platform;

namespace Cairn.Encryption;

// The entries of an encrypted store as the engine sees them. The engine does not know about the encryption.
//
//   key    SipHash-2-4-128(tag key; collection, key)                                    16 bytes
//   value  | salt 16 | counter 8 | encrypted: key length - 1, u16 | key | value | tag 16 |
//
//   tag key, entry keys = HKDF-SHA256(store's own key, salt or none, purpose)
//
//   C1  No two messages are encrypted with the same key and nonce. Each opening draws a random salt, and so has an entry key of its own; its nonces are a
//       counter. After 2^32 entries it draws another salt.
//   C2  An entry is readable only as the value of its key, in its collection and with its flags and expiration: the tag covers them. The tag does not cover
//       the version and the current end of a sliding expiration, because they change while an entry lives.
//   C3  A value is returned only after its tag was found right.
//
//   C4  After Dispose has returned, the keys that are in use here are zero. The engine is closed by then, so nothing that is encrypted or looked up with a
//       key of zeros can reach the file or the caller.
//
// Logs, snapshots and copies of the file contain entries as the engine has them, so they are encrypted too.
internal sealed class StoreCipher : IDisposable
{
    /// <summary>The number of bytes by which an encrypted value is longer than key and value together.</summary>
    public const int OverheadBytes = HeaderBytes + KeyLengthBytes + AesGcmKey.TagBytes;

    private const int SaltBytes = 16;
    private const int HeaderBytes = SaltBytes + sizeof(ulong);
    private const int KeyLengthBytes = sizeof(ushort);
    private const int AssociatedBytes = 48;
    private const ulong MostUses = 1UL << 32;

    // If the salts of two openings share a place, they occasionally cost each other a derivation of some microseconds. Another thread can still be using
    // the replaced key. So the collector disposes it, and its finalizer zeroes it (AesGcmKey).
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

    /// <summary>Returns the tag that replaces a key in the index.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public KeyTag TagOf(ReadOnlySpan<byte> key, uint collection)
    {
        // Acquire; pairs with Dispose. The keys are read before the engine is asked whether it is closed. So if a zeroed key was read, the engine answers
        // that it is closed (C4).
        ulong key0 = Volatile.Read(ref _tagKey0);
        ulong key1 = Volatile.Read(ref _tagKey1);
        (ulong low, ulong high) = SipHash.Compute(key0, key1, collection, key);
        return new KeyTag(low, high);
    }

    /// <summary>Returns the length of an encrypted value in bytes.</summary>
    public static int SealedBytes(int keyBytes, int valueBytes) => OverheadBytes + keyBytes + valueBytes;

    /// <summary>Encrypts a value, which can be given in two parts.</summary>
    /// <param name="tag">The tag of the key.</param>
    /// <param name="terms">The other properties of the entry.</param>
    /// <param name="key">The key.</param>
    /// <param name="first">The value, or its beginning.</param>
    /// <param name="second">The rest of it.</param>
    /// <param name="target">Receives the encrypted value: <see cref="SealedBytes"/> bytes.</param>
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

    /// <summary>Decrypts an encrypted value in place.</summary>
    /// <param name="tag">The tag of the key.</param>
    /// <param name="terms">The other properties of the entry.</param>
    /// <param name="bytes">The encrypted value. Afterwards its content is undefined, except for the returned spans.</param>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <returns>False if the value was not written with the store's key, under this tag and with these properties.</returns>
    public bool TryOpen(
        scoped in KeyTag tag, scoped in EntryTerms terms, Span<byte> bytes, out ReadOnlySpan<byte> key, out Span<byte> value)
    {
        key = default;
        value = default;
        if (bytes.Length <= OverheadBytes)
        {
            return false; // A key has at least one byte.
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
            return false; // An encryption with the store's key never writes such a length.
        }

        key = message[..keyBytes];
        value = message[keyBytes..];
        return true;
    }

    /// <summary>Zeroes the keys. Later encryption and decryption throw.</summary>
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
                CloseAtExit.HoldBack(); // Dispose has released the lock.
                throw new ObjectDisposedException(nameof(CairnStore));
            }

            EntryKey derived = Derive(salt);
            Volatile.Write(ref _entryKeys[(int)((uint)salt % CachedKeys)], derived);
            return derived;
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private EntryKey WritingKey() => Volatile.Read(ref _writing) ?? ReplaceWritingKey(null);

    // Draws a new salt with a new entry key, when there is none or the present one is used up (C1).
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
