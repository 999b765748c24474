using System.Security.Cryptography;
using Cairn.Encryption;
using Cairn.Opening;
using Cairn.Platform;

namespace Cairn.Offline;

// Encrypts a store's own key with another key or password of its users. The entries stay unchanged.
//
//   R1  The new block is durable before the old one is cleared (KeyBlock I2). So at any moment one of them is valid. When this has returned, the old key
//       does not open the file any more.
//   R2  The files of a log repeat the block, so that they can be read without the map. So the next opening of the store creates a new log, as after a disk
//       failure. Until then the log files are unchanged.
internal static unsafe class Rekeyer
{
    public static void Rekey(string path, StoreEncryption current, StoreEncryption replacement)
    {
        StorePlatform platform = HostPlatform.Current;
        path = StoreOpener.FileAt(Path.GetFullPath(path));
        platform.RequireSupportedFileSystem(path);
        using StoreFile file = Compactor.OpenAlone(platform, path, "re-keyed");
        StoreOpener.ReadLayout(file, path);
        var super = default(Superblock);
        file.Read(0, new Span<byte>(&super, sizeof(Superblock)));
        if ((super.RequiredFeatures & Superblock.FeatureEncryption) == 0)
        {
            throw new StoreEncryptionException($"The store '{path}' is not encrypted, so it has no key to change. 'cairn rekey --full' encrypts it.");
        }

        bool isWhole = super.State == Superblock.StateClosed
            || (super.State == Superblock.StateInUse && StoreFormatter.BootIdOf(&super) == platform.BootId);
        if (super.Log.LogId != 0 && !isWhole)
        {
            throw new StoreException(
                $"The machine restarted before the store '{path}' was closed. Open it once, which rebuilds it from its log, and then change its key.");
        }

        byte[] storeKey = StoreKeys.Unwrap(&super, path, current);
        KeyBlock old = StoreKeys.Find(&super)!.Value;
        KeyBlock changed = KeyWrapping.Wrap(replacement, storeKey, old.KeyId, old.Generation + 1);
        CryptographicOperations.ZeroMemory(storeKey);

        if (super.Log.LogId != 0)
        {
            file.Write( // R2
                Marshal.OffsetOf<Superblock>(nameof(Superblock.Log)) + Marshal.OffsetOf<LogBlock>(nameof(LogBlock.Failed)),
                BitConverter.GetBytes(1u));
        }

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
