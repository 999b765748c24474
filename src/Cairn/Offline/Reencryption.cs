using Cairn.Encryption;
using Cairn.Engine;

namespace Cairn.Offline;

/// <summary>
/// The conversion of each entry during a compaction. It decrypts the entry if the store is encrypted, and encrypts it with a new store key if the new file
/// is to be encrypted.
/// </summary>
internal sealed unsafe class Reencryption(StoreEncryption? current, StoreEncryption? replacement) : IDisposable
{
    private StoreCipher? _opening;
    private StoreCipher? _sealing;
    private byte[] _opened = [];
    private byte[] _sealed = [];

    /// <summary>Gets the average growth of an entry in bytes. It is zero, the overhead of encryption, or that overhead as a negative number.</summary>
    public int AddedBytes => (_sealing is null ? 0 : StoreCipher.OverheadBytes + KeyTag.Bytes) - (_opening is null ? 0 : StoreCipher.OverheadBytes + KeyTag.Bytes);

    /// <summary>Checks the key of the old file and creates a key for the new one. Returns null if the new file is not to be encrypted.</summary>
    /// <exception cref="StoreEncryptionException">The key of the old file is missing, wrong, or not needed.</exception>
    public KeyBlock? Begin(Superblock* super, string path)
    {
        _opening = StoreKeys.Unlock(super, path, current);
        if (replacement is null)
        {
            return null;
        }

        KeyBlock block = StoreKeys.Create(replacement);
        _sealing = new StoreCipher(KeyWrapping.Unwrap(block, replacement)!);
        return block;
    }

    /// <summary>Converts an entry.</summary>
    /// <param name="entry">The entry in the old file.</param>
    /// <param name="path">The path of the store.</param>
    /// <param name="key">The key for the new file. It is valid until the next call.</param>
    /// <param name="value">The value for the new file. It is valid until the next call.</param>
    /// <returns>False if the entry was not written with the store's key.</returns>
    /// <exception cref="StoreException">The entry has a type that encrypted stores do not have.</exception>
    public bool TryConvert(scoped in EntryView entry, string path, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        key = new ReadOnlySpan<byte>(entry.Key, entry.KeyLength);
        value = new ReadOnlySpan<byte>(entry.Value, (int)entry.ValueLength);
        EntryTerms terms = EntryTerms.Of(entry.Collection, entry.Flags, EntryContent.ExpirationOf(entry));
        if (_opening is not null)
        {
            if (key.Length != KeyTag.Bytes)
            {
                return false;
            }

            KeyTag tag = *(KeyTag*)entry.Key;
            Grow(ref _opened, value.Length);
            value.CopyTo(_opened);
            bool isGenuine = _opening.TryOpen(tag, terms, _opened.AsSpan(0, value.Length), out key, out Span<byte> opened);
            value = opened;
            if (!isGenuine || !_opening.TagOf(key, entry.Collection).Equals(tag))
            {
                return false;
            }
        }

        if (_sealing is not null)
        {
            if (entry.Type != EntryType.Value)
            {
                throw new StoreException(
                    $"The store '{path}' holds a hash, as the server's hash commands write it. An encrypted store has values only, so it stays as it is. " +
                    "Delete its hashes first.");
            }

            KeyTag tag = _sealing.TagOf(key, entry.Collection);
            int valueBytes = StoreCipher.SealedBytes(key.Length, value.Length);
            Grow(ref _sealed, KeyTag.Bytes + valueBytes);
            _sealing.Seal(tag, terms, key, value, default, _sealed.AsSpan(KeyTag.Bytes, valueBytes));
            fixed (byte* target = _sealed)
            {
                tag.Store(target);
            }

            key = _sealed.AsSpan(0, KeyTag.Bytes);
            value = _sealed.AsSpan(KeyTag.Bytes, valueBytes);
        }

        return true;
    }

    /// <summary>Zeroes the keys of both files.</summary>
    public void Dispose()
    {
        _opening?.Dispose();
        _sealing?.Dispose();
    }

    private static void Grow(ref byte[] buffer, int bytes)
    {
        if (buffer.Length < bytes)
        {
            buffer = new byte[Math.Max(bytes, 2L * buffer.Length)];
        }
    }
}
