using System.Runtime.InteropServices;
using System.Text;
using Cairn.Storage;
using Cairn.Tests.Offline;

namespace Cairn.Tests.Encryption;

/// <summary>The log of an encrypted store is encrypted, and it is read with the store's key.</summary>
public sealed class EncryptedLogTests : StoreTest
{
    private StoreOptions Encrypted => Options with { Encryption = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes)) };

    [Fact]
    public void Transactions_write_what_is_read()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection accounts = store.Collection("accounts", new CollectionOptions { Region = StoreRegion.Keep });
        accounts.Set("ann", "10"u8);
        accounts.Set("gone", "1"u8);
        Assert.True(accounts.TryGetInfo("ann", out EntryInfo ann));

        Assert.True(store.BeginTransaction()
            .Require(accounts, "ann", ann.Version)
            .Set(accounts, "ann", "5"u8, TimeSpan.FromHours(1), flags: 3)
            .Set(accounts, "bob", "5"u8)
            .Remove(accounts, "gone")
            .Commit());
        Assert.False(store.BeginTransaction().Require(accounts, "ann", ann.Version).Set(accounts, "bob", "0"u8).Commit());
        Assert.False(store.BeginTransaction().Require(accounts, "bob", 0).Set(accounts, "bob", "0"u8).Commit());

        Assert.Equal(("5", "5", null), (accounts.GetString("ann"), accounts.GetString("bob"), accounts.GetString("gone")));
        Assert.True(accounts.TryGetInfo("ann", out ann));
        Assert.Equal(3u, ann.Flags);
    }

    [Fact]
    public void Keys_and_values_are_nowhere_in_the_log()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection kept = store.Collection("kept", new CollectionOptions { Region = StoreRegion.Keep, Durability = Durability.GroupCommit });
        for (int i = 0; i < 500; i++)
        {
            kept.Set($"UNMISTAKABLE-KEY:{i}", Encoding.UTF8.GetBytes($"UNMISTAKABLE-VALUE:{i}"));
        }

        store.BeginTransaction().Set(kept, "UNMISTAKABLE-KEY:0", "UNMISTAKABLE-VALUE"u8).Remove(kept, "UNMISTAKABLE-KEY:1").Commit();
        kept.Append("UNMISTAKABLE-KEY:2", "UNMISTAKABLE-VALUE"u8);
        kept.Remove("UNMISTAKABLE-KEY:3");
        store.Flush();

        string[] files = Directory.GetFiles(DirectoryPath);
        Assert.Contains(files, file => file.Contains(".log-", StringComparison.Ordinal));
        Assert.All(files, file => Assert.Equal(-1, File.ReadAllBytes(file).AsSpan().IndexOf("UNMISTAKABLE"u8)));
    }

    [Fact]
    public void A_store_is_rebuilt_from_its_log_with_its_key_even_after_the_key_was_changed()
    {
        StoreEncryption changed = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes, 2));
        using (CairnStore store = CairnStore.Open(Encrypted))
        {
            Keep(store).Set("book:42", "Dune"u8);
        }

        LosePower();
        using (CairnStore store = CairnStore.Open(Encrypted))
        {
            Assert.Equal("Dune", Keep(store).GetString("book:42"));
            Keep(store).Set("book:43", "Arrival"u8);
        }

        StoreMaintenance.Rekey(FilePath, Encrypted.Encryption!, changed);
        Assert.Throws<StoreEncryptionException>(() => CairnStore.Open(Encrypted));
        CairnStore.Open(Encrypted with { Encryption = changed }).Dispose();
        LosePower();

        CairnStore again = Open(Encrypted with { Encryption = changed });
        Assert.Equal(("Dune", "Arrival"), (Keep(again).GetString("book:42"), Keep(again).GetString("book:43")));
    }

    [Fact]
    public void A_store_that_was_encrypted_again_has_a_log_of_its_new_key()
    {
        StoreEncryption changed = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes, 2));
        using (CairnStore store = CairnStore.Open(Encrypted))
        {
            Keep(store).Set("book:42", "Dune"u8);
        }

        StoreMaintenance.Reencrypt(FilePath, Encrypted.Encryption, changed, new CompactOptions { TimeProvider = Clock });
        CairnStore.Open(Encrypted with { Encryption = changed }).Dispose();
        LosePower();

        Assert.Equal("Dune", Keep(Open(Encrypted with { Encryption = changed })).GetString("book:42"));
    }

    [Fact]
    public void A_backup_is_encrypted_and_restored_with_its_key()
    {
        CairnStore store = Open(Encrypted);
        Keep(store).Set("UNMISTAKABLE-KEY", "UNMISTAKABLE-VALUE"u8);
        store.DefaultCollection.Set("UNMISTAKABLE-KEY", "UNMISTAKABLE-VALUE"u8);
        store.Backup(PathOf("backup"));
        StoreOptions restored = Encrypted with { Path = PathOf("restored.cairn") };

        StoreMaintenance.Restore(PathOf("backup"), restored);

        Assert.All(Directory.GetFiles(DirectoryPath), file => Assert.Equal(-1, File.ReadAllBytes(file).AsSpan().IndexOf("UNMISTAKABLE"u8)));
        Assert.Throws<StoreEncryptionException>(() => CairnStore.Open(restored with { Encryption = null }));
        CairnStore again = Open(restored);
        Assert.Equal("UNMISTAKABLE-VALUE", Keep(again).GetString("UNMISTAKABLE-KEY"));
        Assert.Equal("UNMISTAKABLE-VALUE", again.DefaultCollection.GetString("UNMISTAKABLE-KEY"));
    }

    [Fact]
    public void A_backup_is_not_restored_with_a_wrong_key_and_one_that_is_restored_without_any_needs_it_to_be_opened()
    {
        CairnStore store = Open(Encrypted);
        Keep(store).Set("book:42", "Dune"u8);
        store.Backup(PathOf("backup"));
        StoreOptions restored = Encrypted with { Path = PathOf("restored.cairn") };
        var wrong = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes, 2));

        var refused = Assert.Throws<StoreEncryptionException>(() => StoreMaintenance.Restore(PathOf("backup"), restored with { Encryption = wrong }));
        Assert.Contains("is not the one of the store", refused.Message, StringComparison.Ordinal);
        refused = Assert.Throws<StoreEncryptionException>(
            () => StoreMaintenance.Restore(PathOf("backup"), restored with { Encryption = StoreEncryption.FromPassword("Dune") }));
        Assert.Contains("but a password was given", refused.Message, StringComparison.Ordinal);
        Assert.False(File.Exists(restored.Path));
        StoreMaintenance.Restore(PathOf("backup"), restored with { Encryption = null });

        refused = Assert.Throws<StoreEncryptionException>(() => CairnStore.Open(restored with { Encryption = null }));
        Assert.Contains("and none was given", refused.Message, StringComparison.Ordinal);
        Assert.Throws<StoreEncryptionException>(() => CairnStore.Open(restored with { Encryption = wrong }));
        Assert.Equal("Dune", Keep(Open(restored)).GetString("book:42"));
    }

    private static CairnCollection Keep(CairnStore store) =>
        store.Collection("kept", new CollectionOptions { Region = StoreRegion.Keep, Durability = Durability.GroupCommit });

    // Changes the store's file to the state after a loss of power.
    private void LosePower()
    {
        using var surgeon = new StoreSurgeon(FilePath);
        surgeon.WriteUInt32(Marshal.OffsetOf<Superblock>(nameof(Superblock.State)), Superblock.StateInUse);
        surgeon.Flip(Marshal.OffsetOf<Superblock>(nameof(Superblock.BootId)), 0);
    }
}
