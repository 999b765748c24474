using System.Runtime.InteropServices;
using System.Text;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Storage;
using Cairn.Tests.Offline;

namespace Cairn.Tests.Encryption;

/// <summary>The limits of a program that reads or writes the file without the key.</summary>
public sealed unsafe class SecrecyTests : StoreTest
{
    private static readonly StoreEncryption Key = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes));

    private StoreOptions Encrypted => Options with { Encryption = Key };

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Keys_and_values_are_nowhere_in_the_file(int seed)
    {
        const string KeyMark = "UNMISTAKABLE-KEY";
        const string ValueMark = "UNMISTAKABLE-VALUE";
        var random = new Random(seed);
        CairnStore store = Open(Encrypted);
        CairnCollection[] collections =
        [
            store.DefaultCollection, store.Collection("cache"), store.Collection("kept", new CollectionOptions { Region = StoreRegion.Keep }),
        ];
        for (int i = 0; i < 3_000; i++)
        {
            CairnCollection collection = collections[random.Next(collections.Length)];
            string key = $"{KeyMark}:{random.Next(500)}";
            string value = ValueMark + new string('v', random.Next(10) == 0 ? random.Next(100_000) : random.Next(300));
            switch (random.Next(10))
            {
                case < 4:
                    collection.Set(key, Encoding.UTF8.GetBytes(value), random.Next(2) == 0 ? Expiration.None : TimeSpan.FromSeconds(random.Next(1, 100)));
                    break;
                case 4:
                    collection.Append(key, Encoding.UTF8.GetBytes(ValueMark));
                    break;
                case 5:
                    collection.Touch(key, TimeSpan.FromSeconds(random.Next(1, 100)));
                    break;
                case 6:
                    collection.AcquireLease(key, TimeSpan.Zero, out StoreLease? lease);
                    lease?.TrySet(Encoding.UTF8.GetBytes(value));
                    lease?.Dispose();
                    break;
                case 7:
                    collection.Increment($"{KeyMark}:number", 1_234_567_890_123, out _, initialValue: 0);
                    break;
                case 8:
                    collection.Remove(key);
                    break;
                default:
                    collection.Get(key);
                    Clock.Advance(TimeSpan.FromSeconds(1));
                    break;
            }
        }

        store.DefaultCollection.Set("hidden number", "12345678901234567"u8);
        store.Dispose();
        StoreMaintenance.Compact(FilePath, new CompactOptions { TimeProvider = Clock });
        StoreMaintenance.Rekey(FilePath, Key, Key);

        foreach (string file in Directory.GetFiles(DirectoryPath, "*", SearchOption.AllDirectories))
        {
            byte[] bytes = File.ReadAllBytes(file);
            foreach (string secret in (string[])[KeyMark, ValueMark, "vvvvvvvv", "hidden number", "12345678901234567", "1234567890123"])
            {
                Assert.Equal(-1, bytes.AsSpan().IndexOf(Encoding.UTF8.GetBytes(secret)));
            }

            Assert.Equal(-1, bytes.AsSpan().IndexOf(TestBytes.Of(StoreEncryption.KeyBytes)));
        }
    }

    [Fact]
    public void A_value_under_another_key_is_not_found()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection cache = store.DefaultCollection;
        cache.Set("role:alice", "administrator"u8);
        cache.Set("role:mallory", "guest"u8);

        Transplant(store, cache, "role:alice", cache, "role:mallory");

        Assert.Null(cache.GetString("role:mallory"));
        Assert.Equal("administrator", cache.GetString("role:alice"));
        Assert.Equal(1, store.GetStatistics().Totals.DamagedEntries);
        Assert.Equal(WriteStatus.Stored, cache.Add("role:mallory", "guest"u8)); // The forged entry is removed.
    }

    [Fact]
    public void A_value_under_the_same_key_of_another_collection_is_not_found()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection cache = store.DefaultCollection;
        CairnCollection drafts = store.Collection("drafts");
        drafts.Set("page:1", "a draft"u8);
        cache.Set("page:1", "the page"u8);

        Transplant(store, drafts, "page:1", cache, "page:1");

        Assert.Null(cache.GetString("page:1"));
    }

    [Fact]
    public void A_forged_entry_that_is_kept_is_an_error()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection kept = store.Collection("kept", new CollectionOptions { Region = StoreRegion.Keep });
        kept.Set("role:alice", "administrator"u8);
        kept.Set("role:mallory", "guest"u8);

        Transplant(store, kept, "role:alice", kept, "role:mallory");

        StoreCorruptException error = Assert.Throws<StoreCorruptException>(() => kept.GetString("role:mallory"));
        Assert.Contains("role:mallory", error.Message, StringComparison.Ordinal);
        Assert.Contains("kept", error.Message, StringComparison.Ordinal);
        Assert.True(kept.Set("role:mallory", "guest"u8));
        Assert.Equal("guest", kept.GetString("role:mallory"));
    }

    [Fact]
    public void Any_bit_of_a_value_flags_or_expiration_that_is_changed_is_noticed()
    {
        CairnStore store = Open(Encrypted);
        store.DefaultCollection.Set("key", "value"u8, TimeSpan.FromHours(1), flags: 5);
        (byte[] bytes, EntryInfo info) = ReadSealed(store, store.DefaultCollection, "key");
        var terms = EntryTerms.Of(0, info);
        KeyTag tag = store.Engine.Cipher!.TagOf("key"u8, 0);
        Assert.True(store.Engine.Cipher.TryOpen(tag, terms, [.. bytes], out _, out Span<byte> value));
        Assert.Equal("value"u8.ToArray(), value.ToArray());

        for (int bit = 0; bit < bytes.Length * 8; bit++)
        {
            byte[] changed = [.. bytes];
            changed[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.False(store.Engine.Cipher.TryOpen(tag, terms, changed, out _, out _));
        }

        for (int length = 0; length < bytes.Length; length++)
        {
            Assert.False(store.Engine.Cipher.TryOpen(tag, terms, bytes.AsSpan(0, length).ToArray(), out _, out _));
        }

        EntryTerms[] others =
        [
            terms with { Flags = 4 }, terms with { Deadline = terms.Deadline + 1 }, terms with { Deadline = long.MaxValue },
            terms with { SlidingMs = 1 }, terms with { Collection = 1 },
        ];
        Assert.All(others, other => Assert.False(store.Engine.Cipher.TryOpen(tag, other, [.. bytes], out _, out _)));
    }

    [Fact]
    public void Entries_of_another_store_are_not_found()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection cache = store.DefaultCollection;
        CairnStore other = Open(Encrypted with { Path = PathOf("other.cairn") });
        cache.Set("key", "mine"u8);
        other.DefaultCollection.Set("key", "another's"u8);
        (byte[] bytes, _) = ReadSealed(other, other.DefaultCollection, "key");

        WriteSealed(store, cache, "key", bytes);

        Assert.Null(cache.Get("key"));
        Assert.NotEqual(cache.HashOf("key"), other.DefaultCollection.HashOf("key"));
    }

    [Fact]
    public void Damage_to_an_encrypted_store_never_becomes_a_wrong_value()
    {
        var random = new Random(81);
        for (int round = 0; round < 40; round++)
        {
            File.Delete(FilePath);
            using (CairnStore store = CairnStore.Open(Encrypted with { CapacityBytes = StoreLimits.MinCapacityBytes }))
            {
                for (int i = 0; i < 300; i++)
                {
                    store.DefaultCollection.Set($"key:{i}", TestBytes.Of(100, i));
                }
            }

            using (var surgeon = new StoreSurgeon(FilePath))
            {
                for (int i = 0; i < 200; i++)
                {
                    surgeon.Flip(random.NextInt64(surgeon.Layout.IndexOffset, surgeon.Length), random.Next(8));
                }
            }

            using CairnStore damaged = CairnStore.Open(Encrypted);
            Assert.All(Enumerable.Range(0, 300), i => Assert.True(damaged.DefaultCollection.Get($"key:{i}") is not { } value || value.AsSpan().SequenceEqual(TestBytes.Of(100, i))));
        }
    }

    [Fact]
    public void No_salt_and_counter_is_used_twice_in_any_opening()
    {
        HashSet<string> nonces = [];
        HashSet<string> salts = [];
        for (int opening = 0; opening < 5; opening++)
        {
            using CairnStore store = CairnStore.Open(Encrypted);
            using CairnStore second = CairnStore.Open(Encrypted);
            Parallel.For(0, 400, new ParallelOptions { MaxDegreeOfParallelism = 4 }, i =>
            {
                CairnStore writer = i % 2 == 0 ? store : second;
                writer.DefaultCollection.Set($"key:{opening}:{i}", "value"u8);
            });
            for (int i = 0; i < 400; i++)
            {
                (byte[] bytes, _) = ReadSealed(store, store.DefaultCollection, $"key:{opening}:{i}");
                Assert.True(nonces.Add(Convert.ToHexString(bytes.AsSpan(0, 24))));
                salts.Add(Convert.ToHexString(bytes.AsSpan(0, 16)));
            }
        }

        Assert.Equal(10, salts.Count);
    }

    [Fact]
    public void No_salt_and_counter_is_used_twice_in_several_processes()
    {
        const int Processes = 3;
        const int Entries = 200;
        CairnStore store = Open(Encrypted);
        ChildProcess[] children =
        [
            .. Enumerable.Range(0, Processes).Select(number => ChildProcess.Start(typeof(Program), "write-encrypted", FilePath, $"{number}", $"{Entries}")),
        ];
        foreach (ChildProcess child in children)
        {
            Assert.Equal("written", child.ReadLine());
            child.WaitForExit();
            child.Dispose();
        }

        string[] nonces =
        [
            .. Enumerable.Range(0, Processes * Entries)
                .Select(i => Convert.ToHexString(ReadSealed(store, store.DefaultCollection, $"{i % Processes}:{i / Processes}").Bytes.AsSpan(0, 24))),
        ];

        Assert.Equal(nonces.Length, nonces.Distinct().Count());
        Assert.Equal(Processes, nonces.Select(nonce => nonce[..32]).Distinct().Count());
        Assert.All(Enumerable.Range(0, Processes * Entries), i => Assert.Equal("value", store.DefaultCollection.GetString($"{i % Processes}:{i / Processes}")));
    }

    [Fact]
    public void The_same_value_of_the_same_key_looks_different_each_time()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection cache = store.DefaultCollection;
        cache.Set("key", "value"u8);
        (byte[] first, _) = ReadSealed(store, cache, "key");
        cache.Set("key", "value"u8);
        (byte[] second, _) = ReadSealed(store, cache, "key");

        Assert.NotEqual(first[24..], second[24..]);
    }

    // Reads an entry as the engine does.
    private static (byte[] Bytes, EntryInfo Info) ReadSealed(CairnStore store, CairnCollection collection, string key)
    {
        KeyTag tag = store.Engine.Cipher!.TagOf(Encoding.UTF8.GetBytes(key), collection.Number);
        var buffer = new byte[4096];
        Assert.Equal(ReadOutcome.Hit, store.Engine.TryGet(PlaceOf(store, collection, &tag), buffer, acceptStale: true, out EntryInfo info));
        return (buffer[..info.ValueBytes], info);
    }

    // Writes as an attacker with write access to the file would. The attacker corrects every checksum.
    private static void WriteSealed(CairnStore store, CairnCollection collection, string key, byte[] bytes)
    {
        KeyTag tag = store.Engine.Cipher!.TagOf(Encoding.UTF8.GetBytes(key), collection.Number);
        var content = new EntryContent { Type = EntryType.Value, Expiration = ResolvedExpiration.Never, First = bytes };
        Assert.Equal(WriteStatus.Stored, store.Engine.Write(PlaceOf(store, collection, &tag), content, WriteCondition.Always, 0, out _));
    }

    private static void Transplant(CairnStore store, CairnCollection source, string from, CairnCollection target, string to) =>
        WriteSealed(store, target, to, ReadSealed(store, source, from).Bytes);

    private static KeyRef PlaceOf(CairnStore store, CairnCollection collection, KeyTag* tag) =>
        store.Engine.Place((byte*)tag, KeyTag.Bytes, collection.Number);
}
