using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Cairn.Encryption;
using Cairn.Opening;
using Cairn.Platform;
using Cairn.Storage;

namespace Cairn.Offline;

// Encrypts a store's own key anew, for another key or password of its users. The entries stay as they are.
//
//   R1  The new block is on disk before the old one is cleared (KeyBlock I2): at any moment one of them is whole, and once this returns, the
//       old key opens the file no more.
internal static unsafe class Rekeyer
{
    public static void Rekey(string path, StoreEncryption current, StoreEncryption replacement)
    {
        StorePlatform platform = StorePlatform.Current;
        path = File.ResolveLinkTarget(path, returnFinalTarget: true)?.FullName ?? Path.GetFullPath(path);
        platform.RequireSupportedFileSystem(path);
        using StoreFile file = Compactor.OpenAlone(platform, path, "re-keyed");
        StoreOpener.ReadLayout(file, path);
        var super = default(Superblock);
        file.Read(0, new Span<byte>(&super, sizeof(Superblock)));
        if ((super.RequiredFeatures & Superblock.FeatureEncryption) == 0)
        {
            throw new StoreEncryptionException($"The store '{path}' is not encrypted, so it has no key to change. 'cairn rekey --full' encrypts it.");
        }

        byte[] storeKey = StoreKeys.Unwrap(&super, path, current);
        KeyBlock old = StoreKeys.Find(&super)!.Value;
        KeyBlock changed = KeyBlock.Wrap(replacement, storeKey, old.KeyId, old.Generation + 1);
        CryptographicOperations.ZeroMemory(storeKey);

        bool isInFirst = super.FirstKey.IsWhole && super.FirstKey.Generation == old.Generation;
        long first = Marshal.OffsetOf<Superblock>(nameof(Superblock.FirstKey));
        long second = Marshal.OffsetOf<Superblock>(nameof(Superblock.SecondKey));
        Write(file, isInFirst ? second : first, changed); // R1
        Write(file, isInFirst ? first : second, default);
    }

    private static void Write(StoreFile file, long offset, in KeyBlock block)
    {
        file.Write(offset, MemoryMarshal.AsBytes(new ReadOnlySpan<KeyBlock>(in block)));
        file.FlushData();
    }
}
