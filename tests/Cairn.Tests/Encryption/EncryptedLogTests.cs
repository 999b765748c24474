using System.Text;

namespace Cairn.Tests.Encryption;

/// <summary>What an encrypted store logs is encrypted, and is read again with its key.</summary>
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
}
