using System.Runtime.InteropServices;
using Cairn.Encryption;
using Cairn.Storage;
using Cairn.Tests.Offline;

namespace Cairn.Tests.Encryption;

/// <summary>Opening an encrypted store with the right key, with a wrong one, and without one.</summary>
public sealed class EncryptedOpeningTests : StoreTest
{
    private static readonly long FirstKey = Marshal.OffsetOf<Superblock>(nameof(Superblock.FirstKey));

    [Fact]
    public void A_store_opens_with_its_key_only()
    {
        Fill(Options with { Encryption = ByKey(1) });

        Assert.Contains("is encrypted with a key, and none was given", Refusal(null), StringComparison.Ordinal);
        Assert.Contains("The key that was given is not the one", Refusal(ByKey(2)), StringComparison.Ordinal);
        Assert.Contains("is encrypted with a key, but a password was given", Refusal(ByPassword("right")), StringComparison.Ordinal);
        Assert.Equal("Dune", Open(Options with { Encryption = ByKey(1) }).DefaultCollection.GetString("book:42"));
    }

    [Fact]
    public void A_store_opens_with_its_password_only()
    {
        Fill(Options with { Encryption = ByPassword("right") });

        Assert.Contains("is encrypted with a password, and none was given", Refusal(null), StringComparison.Ordinal);
        Assert.Contains("The password that was given is not the one", Refusal(ByPassword("Right")), StringComparison.Ordinal);
        Assert.Equal("Dune", Open(Options with { Encryption = ByPassword("right") }).DefaultCollection.GetString("book:42"));
    }

    [Fact]
    public void A_store_that_is_not_encrypted_takes_no_key()
    {
        Fill(Options);

        Assert.Contains("is not encrypted, but a key was given", Refusal(ByKey(1)), StringComparison.Ordinal);
        Assert.Equal("Dune", Open(Options).DefaultCollection.GetString("book:42"));
    }

    [Fact]
    public void Refused_opening_has_changed_nothing()
    {
        Fill(Options with { Encryption = ByKey(1) });
        byte[] before = File.ReadAllBytes(FilePath);

        Refusal(ByKey(2));
        Refusal(null);

        Assert.Equal(before, File.ReadAllBytes(FilePath));
    }

    [Fact]
    public void After_a_restart_of_the_machine_only_an_opener_with_the_key_empties_the_store()
    {
        Fill(Options with { Encryption = ByKey(1) });
        using (var surgeon = new StoreSurgeon(FilePath))
        {
            surgeon.Flip(Marshal.OffsetOf<Superblock>(nameof(Superblock.BootId)), 0);
        }

        byte[] before = File.ReadAllBytes(FilePath);
        Refusal(ByKey(2));
        Assert.Equal(before, File.ReadAllBytes(FilePath));

        CairnStore emptied = Open(Options with { Encryption = ByKey(1) });
        Assert.Single(emptied.Warnings);
        Assert.Null(emptied.DefaultCollection.GetString("book:42"));
        emptied.DefaultCollection.Set("book:42", "Arrakis"u8);
        emptied.Dispose();
        Refusal(ByKey(2));
        Assert.Equal("Arrakis", Open(Options with { Encryption = ByKey(1) }).DefaultCollection.GetString("book:42"));
    }

    [Fact]
    public void A_damaged_key_is_found_by_opening_and_by_verifying()
    {
        Fill(Options with { Encryption = ByKey(1) });
        using (var surgeon = new StoreSurgeon(FilePath))
        {
            surgeon.Flip(FirstKey + 70, 3);
        }

        Assert.Throws<StoreCorruptException>(() => Open(Options with { Encryption = ByKey(1) }));
        Assert.Throws<StoreCorruptException>(() => StoreMaintenance.Compact(FilePath));
        Assert.Contains(StoreMaintenance.Verify(FilePath).Findings, finding => finding.Text.Contains("key is damaged", StringComparison.Ordinal));
    }

    [Fact]
    public void An_encrypted_store_is_verified_and_compacted_without_its_key()
    {
        CairnStore store = Open(Options with { Encryption = ByKey(1) });
        for (int i = 0; i < 2_000; i++)
        {
            store.DefaultCollection.Set($"key:{i}", TestBytes.Of(i % 300, i), i % 2 == 0 ? Expiration.None : TimeSpan.FromHours(1), (uint)i % 3);
        }

        store.Dispose();
        Assert.Empty(StoreMaintenance.Verify(FilePath).Findings);

        CompactReport report = StoreMaintenance.Compact(FilePath, new CompactOptions { TimeProvider = Clock });

        Assert.Equal(2_000, report.EntriesKept);
        store = Open(Options with { Encryption = ByKey(1) });
        Assert.All(Enumerable.Range(0, 2_000), i => Assert.Equal(TestBytes.Of(i % 300, i), store.DefaultCollection.Get($"key:{i}")));
    }

    [Fact]
    public void Rekeying_changes_only_the_key_that_opens_a_store()
    {
        Fill(Options with { Encryption = ByKey(1) });
        (StoreEncryption From, StoreEncryption To)[] changes =
        [
            (ByKey(1), ByPassword("right")), (ByPassword("right"), ByKey(2)), (ByKey(2), ByKey(3)), (ByKey(3), ByPassword("left")),
        ];

        foreach ((StoreEncryption from, StoreEncryption to) in changes)
        {
            Assert.Throws<StoreEncryptionException>(() => StoreMaintenance.Rekey(FilePath, ByKey(77), to));

            StoreMaintenance.Rekey(FilePath, from, to);

            Refusal(from);
            using CairnStore store = CairnStore.Open(Options with { Encryption = to });
            Assert.Equal("Dune", store.DefaultCollection.GetString("book:42"));
            Assert.Throws<StoreException>(() => StoreMaintenance.Rekey(FilePath, to, from)); // The store is still open.
        }
    }

    [Fact]
    public void Rekeying_that_is_interrupted_leaves_a_store_that_opens()
    {
        Fill(Options with { Encryption = ByKey(1) });
        byte[] before = ReadKeys();
        StoreMaintenance.Rekey(FilePath, ByKey(1), ByKey(2));
        byte[] after = ReadKeys();
        long secondKey = Marshal.OffsetOf<Superblock>(nameof(Superblock.SecondKey)) - FirstKey;

        // The new block was being written: any part of it may be on the disk; the old block is unchanged.
        for (int written = 0; written < KeyBlock.Bytes; written += 8)
        {
            byte[] torn = [.. before];
            after.AsSpan((int)secondKey, written).CopyTo(torn.AsSpan((int)secondKey));
            WriteKeys(torn);

            Open(Options with { Encryption = ByKey(1) }).Dispose();
        }

        // The new block is complete; the old one was being cleared.
        for (int cleared = 0; cleared <= KeyBlock.Bytes; cleared += 8)
        {
            byte[] torn = [.. before];
            after.AsSpan((int)secondKey).CopyTo(torn.AsSpan((int)secondKey));
            torn.AsSpan(0, cleared).Clear();
            WriteKeys(torn);

            Open(Options with { Encryption = ByKey(2) }).Dispose();
            Refusal(ByKey(1));
        }
    }

    [Fact]
    public void Reencrypting_encrypts_decrypts_and_changes_every_entry()
    {
        Fill(Options);
        using (CairnStore plain = CairnStore.Open(Options))
        {
            plain.Collection("films").Set("film:1", "Arrival"u8, TimeSpan.FromHours(1), flags: 5);
        }

        StoreEncryption?[] steps = [null, ByKey(1), ByKey(1), ByPassword("right"), null];
        HashSet<string> tags = [];
        for (int i = 1; i < steps.Length; i++)
        {
            CompactReport report = StoreMaintenance.Reencrypt(FilePath, steps[i - 1], steps[i], new CompactOptions { TimeProvider = Clock });

            Assert.Equal((2, 0, 0), (report.EntriesKept, report.EntriesDamaged, report.EntriesEvicted));
            using CairnStore store = CairnStore.Open(Options with { Encryption = steps[i] });
            Assert.Equal(steps[i] is not null, store.IsEncrypted);
            Assert.Equal("Dune", store.DefaultCollection.GetString("book:42"));
            Assert.Equal("Arrival", store.Collection("films").GetString("film:1"));
            Assert.True(store.Collection("films").TryGetInfo("film:1", out EntryInfo info));
            Assert.Equal((5u, Clock.GetUtcNow() + TimeSpan.FromHours(1)), (info.Flags, info.ExpiresAt));
            if (store.Engine.Cipher is { } cipher)
            {
                Assert.True(tags.Add($"{store.DefaultCollection.HashOf("book:42")}")); // Each store hashes with a different key.
                Assert.NotEqual(default, cipher.TagOf("book:42"u8, 0));
            }
        }

        Assert.Empty(StoreMaintenance.Verify(FilePath).Findings);
    }

    [Fact]
    public void Reencrypting_needs_the_key_as_it_is()
    {
        Fill(Options with { Encryption = ByKey(1) });

        Assert.Throws<StoreEncryptionException>(() => StoreMaintenance.Reencrypt(FilePath, null, ByKey(2)));
        Assert.Throws<StoreEncryptionException>(() => StoreMaintenance.Reencrypt(FilePath, ByKey(2), null));

        Assert.Equal("Dune", Open(Options with { Encryption = ByKey(1) }).DefaultCollection.GetString("book:42"));
    }

    private static StoreEncryption ByKey(int seed) => StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes, seed));

    private static StoreEncryption ByPassword(string password) => StoreEncryption.FromPassword(password, iterations: 10);

    private static void Fill(StoreOptions options)
    {
        using CairnStore store = CairnStore.Open(options);
        store.DefaultCollection.Set("book:42", "Dune"u8);
    }

    private string Refusal(StoreEncryption? encryption) =>
        Assert.Throws<StoreEncryptionException>(() => Open(Options with { Encryption = encryption })).Message;

    private byte[] ReadKeys()
    {
        using var surgeon = new StoreSurgeon(FilePath);
        return surgeon.Read(FirstKey, StoreLayout.SuperblockBytes - (int)FirstKey);
    }

    private void WriteKeys(byte[] keys)
    {
        using var surgeon = new StoreSurgeon(FilePath);
        surgeon.Write(FirstKey, keys);
    }
}
