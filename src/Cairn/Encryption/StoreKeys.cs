using System.Security.Cryptography;
using Cairn.Platform;

namespace Cairn.Encryption;

// A store's own key, and the two blocks for it in the first page of the file (KeyBlock I2).
internal static unsafe class StoreKeys
{
    /// <summary>Creates a new key for a store.</summary>
    public static KeyBlock Create(StoreEncryption encryption)
    {
        Span<byte> key = stackalloc byte[AesGcmKey.KeyBytes];
        RandomNumberGenerator.Fill(key);
        Span<byte> id = stackalloc byte[sizeof(ulong)];
        RandomNumberGenerator.Fill(id);
        KeyBlock block = KeyWrapping.Wrap(encryption, key, BinaryPrimitives.ReadUInt64LittleEndian(id), generation: 1);
        key.Clear();
        return block;
    }

    /// <summary>Returns the valid block. Null if the store is not encrypted, or if both blocks are damaged.</summary>
    public static KeyBlock? Find(Superblock* super)
    {
        if ((super->RequiredFeatures & Superblock.FeatureEncryption) == 0)
        {
            return null;
        }

        KeyBlock first = super->FirstKey;
        KeyBlock second = super->SecondKey;
        return first.IsWhole && (!second.IsWhole || first.Generation > second.Generation) ? first
            : second.IsWhole ? second
            : null;
    }

    /// <summary>Writes the first block into a new file's first page.</summary>
    public static void Write(Superblock* super, in KeyBlock block)
    {
        super->RequiredFeatures |= Superblock.FeatureEncryption;
        super->FirstKey = block;
        super->SecondKey = default;
    }

    /// <summary>Returns the cipher for a store's entries. Null if the store is not encrypted and no key was given.</summary>
    /// <exception cref="StoreEncryptionException">The key is missing, wrong, or not needed.</exception>
    /// <exception cref="StoreCorruptException">The file's own key is damaged.</exception>
    public static StoreCipher? Unlock(StoreFile file, string path, StoreEncryption? encryption)
    {
        Superblock super = ReadFirstPage(file);
        return Unlock(&super, path, encryption);
    }

    /// <inheritdoc cref="Unlock(StoreFile, string, StoreEncryption?)"/>
    public static StoreCipher? Unlock(Superblock* super, string path, StoreEncryption? encryption)
    {
        if ((super->RequiredFeatures & Superblock.FeatureEncryption) == 0)
        {
            return encryption is null
                ? null
                : throw new StoreEncryptionException(
                    $"The store '{path}' is not encrypted, but a {NameOf(encryption.Kind)} was given for it. Open it without, or encrypt it with 'cairn rekey'.");
        }

        return new StoreCipher(Unwrap(super, path, encryption));
    }

    /// <summary>Returns a store's own key, decrypted.</summary>
    /// <exception cref="StoreEncryptionException">The given key is missing or wrong.</exception>
    /// <exception cref="StoreCorruptException">The file's own key is damaged.</exception>
    public static byte[] Unwrap(Superblock* super, string path, StoreEncryption? encryption)
    {
        if (Find(super) is not { } block)
        {
            throw Damaged(path);
        }

        if (encryption is null)
        {
            throw new StoreEncryptionException(
                $"The store '{path}' is encrypted with a {NameOf((KeyKind)block.Kind)}, and none was given. Give it with " +
                $"{nameof(StoreOptions)}.{nameof(StoreOptions.Encryption)}.");
        }

        if ((int)encryption.Kind != block.Kind)
        {
            throw new StoreEncryptionException(
                $"The store '{path}' is encrypted with a {NameOf((KeyKind)block.Kind)}, but a {NameOf(encryption.Kind)} was given.");
        }

        return KeyWrapping.Unwrap(block, encryption)
            ?? throw new StoreEncryptionException(
                $"The {NameOf(encryption.Kind)} that was given is not the one of the store '{path}'. Nothing was changed.");
    }

    /// <summary>Returns the valid block, for a copy of the store. Null if the store is not encrypted.</summary>
    /// <exception cref="StoreCorruptException">The file's own key is damaged.</exception>
    public static KeyBlock? Require(Superblock* super, string path) =>
        (super->RequiredFeatures & Superblock.FeatureEncryption) == 0 ? null : Find(super) ?? throw Damaged(path);

    /// <summary>Derives the key from a password in advance, so that no other process waits for the derivation.</summary>
    public static void Prepare(StoreFile file, StoreEncryption? encryption)
    {
        if (encryption is { Kind: KeyKind.Password })
        {
            Superblock super = ReadFirstPage(file);
            if (Find(&super) is { } block && block.Kind == (int)KeyKind.Password)
            {
                encryption.DeriveWrappingKey(new ReadOnlySpan<byte>(block.Salt, KeyBlock.SaltBytes), block.Iterations);
            }
        }
    }

    public static string NameOf(KeyKind kind) => kind == KeyKind.Password ? "password" : "key";

    private static StoreCorruptException Damaged(string path) =>
        new(path, Marshal.OffsetOf<Superblock>(nameof(Superblock.FirstKey)), "the store's key, encrypted", "none that is whole");

    private static Superblock ReadFirstPage(StoreFile file)
    {
        var super = default(Superblock);
        file.Read(0, new Span<byte>(&super, sizeof(Superblock)));
        return super;
    }
}
