using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Storage;

namespace Cairn.Offline;

/// <summary>
/// What compacting does to each entry besides copying it: decrypts it, if the store is encrypted, and encrypts it with a new key of the store's
/// own, if the new file is to be.
/// </summary>
internal sealed unsafe class Reencryption(StoreEncryption? current, StoreEncryption? replacement) : IDisposable
{
    private StoreCipher? _opening;
    private StoreCipher? _sealing;
    private byte[] _opened = [];
    private byte[] _sealed = [];

    /// <summary>By how much an entry becomes longer, on average: nothing, what encryption adds, or less than nothing.</summary>
    public int AddedBytes => (_sealing is null ? 0 : StoreCipher.OverheadBytes + KeyTag.Bytes) - (_opening is null ? 0 : StoreCipher.OverheadBytes + KeyTag.Bytes);

    /// <summary>Checks the key of the old file and makes one for the new; null if that is not to be encrypted.</summary>
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
    /// <param name="entry">As the old file has it.</param>
    /// <param name="path">Of the store.</param>
    /// <param name="key">As the new file has it; valid until the next call.</param>
    /// <param name="value">As the new file has it; valid until the next call.</param>
    /// <returns>False if the entry was not written with the store's key.</returns>
    /// <exception cref="StoreException">It is of a type that encrypted stores do not have.</exception>
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
