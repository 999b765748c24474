using System.Buffers;
using System.Text;

namespace Cairn.Tests.Encryption;

/// <summary>With its key, an encrypted store behaves like any other.</summary>
public sealed class EncryptedStoreTests : StoreTest
{
    private static readonly StoreEncryption Key = StoreEncryption.FromKey(TestBytes.Of(StoreEncryption.KeyBytes));

    private StoreOptions Encrypted => Options with { Encryption = Key };

    [Fact]
    public void Values_are_there_again_after_the_store_was_closed()
    {
        using (CairnStore store = CairnStore.Open(Encrypted))
        {
            Assert.True(store.IsEncrypted);
            store.DefaultCollection.Set("book:42", "Dune"u8, flags: 7);
            store.Collection("films").Set("book:42", "Arrival"u8);
        }

        CairnStore again = Open(Encrypted);
        CairnCollection cache = again.DefaultCollection;

        Assert.Equal("Dune", cache.GetString("book:42"));
        Assert.Equal("Arrival", again.Collection("films").GetString("book:42"));
        Assert.True(cache.TryGetInfo("book:42", out EntryInfo info));
        Assert.Equal((4, 7u), (info.ValueBytes, info.Flags));
        Assert.Null(cache.Get("book:43"));
    }

    [Fact]
    public void Every_way_of_reading_gives_the_value()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection cache = store.DefaultCollection;
        foreach (int length in (ReadOnlySpan<int>)[0, 1, 100, 900, 1_000, 5_000, 200_000])
        {
            byte[] value = TestBytes.Of(length);
            Assert.True(cache.Set("key", value));
            var writer = new ArrayBufferWriter<byte>();
            var room = new byte[length + 10];

            Assert.Equal(value, cache.Get("key"));
            Assert.True(cache.TryGet("key", room, out int written));
            Assert.Equal(value, room[..written]);
            Assert.True(cache.TryGet("key", writer, out EntryInfo info));
            Assert.Equal(value, writer.WrittenSpan.ToArray());
            Assert.Equal(length, info.ValueBytes);
            writer.Clear();
            Assert.True(cache.TryPeek("key", writer, out info));
            Assert.Equal(value, writer.WrittenSpan.ToArray());
            Assert.True(cache.Read("key", value, static (bytes, found, expected) =>
            {
                Assert.Equal(expected, bytes.ToArray());
                Assert.Equal(expected.Length, found.ValueBytes);
            }));
            Assert.True(cache.TryPin("key", out PinnedValue? pinned));
            using (pinned)
            {
                cache.Remove("key");
                Assert.Equal(value, pinned.Value.ToArray());
            }

            cache.Set("key", new MemoryStream(value), length);
            using Stream stream = cache.OpenRead("key")!;
            var streamed = new byte[length];
            stream.ReadExactly(streamed);
            Assert.Equal(value, streamed);
            if (length > 0)
            {
                Assert.False(cache.TryGet("key", room.AsSpan(0, length - 1), out info));
                Assert.Equal(length, info.ValueBytes);
            }
        }
    }

    [Fact]
    public void The_longest_value_is_stored_and_a_longer_one_refused()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection cache = store.DefaultCollection;
        string longestKey = new('k', 65_536);
        byte[] value = TestBytes.Of(store.MaxValueBytes);

        Assert.True(cache.Set(longestKey, value));
        Assert.Equal(value, cache.Get(longestKey));
        Assert.Throws<ArgumentOutOfRangeException>(() => cache.Set("key", new byte[store.MaxValueBytes + 1]));
        Assert.Equal(WriteStatus.TooLarge, cache.Append(longestKey, "!"u8));
    }

    [Fact]
    public void Many_values_are_read_at_once()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection cache = store.DefaultCollection;
        for (int i = 0; i < 40; i++)
        {
            cache.Set($"key:{i}", TestBytes.Of(i * 50, i));
        }

        ReadOnlyMemory<byte>[] keys = [.. Enumerable.Range(0, 50).Select(i => (ReadOnlyMemory<byte>)Encoding.UTF8.GetBytes($"key:{i}"))];
        var buffer = new byte[40 * 40 * 50];
        var results = new GetManyResult[keys.Length];

        Assert.Equal(50, cache.GetMany(keys, buffer, results));

        Assert.All(Enumerable.Range(0, 50), i =>
        {
            Assert.Equal(i < 40, results[i].IsHit);
            Assert.Equal(i < 40 ? TestBytes.Of(i * 50, i) : [], buffer.AsSpan(results[i].Offset, results[i].Info.ValueBytes).ToArray());
        });
        Assert.Equal(3, cache.GetMany(keys, buffer.AsSpan(0, 160), results));
    }

    [Fact]
    public void A_scan_lists_keys_as_they_are()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection films = store.Collection("films");
        for (int i = 0; i < 500; i++)
        {
            store.DefaultCollection.Set($"key:{i}", TestBytes.Of(i));
            films.Set($"film:{i}", TestBytes.Of(10));
        }

        StoreEntry[] entries = [.. store.DefaultCollection.Entries(KeyFilter.Glob("key:*7"))];

        Assert.Equal(
            Enumerable.Range(0, 500).Where(i => i % 10 == 7).Select(i => ($"key:{i}", i)).Order(),
            entries.Select(entry => (entry.KeyText, entry.Info.ValueBytes)).Order());
        Assert.Equal(500, films.Entries().Count());
        Assert.Equal("key:499", store.GetBiggestKeys(1)[0].KeyText);
        Assert.Equal(1_000, store.GetSizeHistogram().Entries);
    }

    [Fact]
    public void Expiration_and_sliding_expiration_work_as_without_encryption()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection cache = store.DefaultCollection;
        cache.Set("short", "value"u8, TimeSpan.FromSeconds(10));
        cache.Set("sliding", "value"u8, Expiration.Sliding(TimeSpan.FromSeconds(10)));
        cache.Set("touched", "value"u8, TimeSpan.FromSeconds(10), flags: 3);
        Assert.Equal(WriteStatus.Stored, cache.Touch("touched", TimeSpan.FromSeconds(100)));

        for (int i = 0; i < 5; i++)
        {
            Clock.Advance(TimeSpan.FromSeconds(4));
            Assert.Equal("value", cache.GetString("sliding"));
        }

        Assert.Null(cache.Get("short"));
        Assert.True(cache.TryGetStale("short", new byte[5], out EntryInfo stale));
        Assert.Equal(5, stale.ValueBytes);
        Assert.Equal("value", cache.GetString("touched"));
        Assert.True(cache.TryGetInfo("touched", out EntryInfo touched));
        Assert.Equal(3u, touched.Flags);
    }

    [Fact]
    public void A_lease_on_a_stale_value_leaves_it_readable()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection cache = store.DefaultCollection;
        cache.Set("key", "old"u8, TimeSpan.FromSeconds(10));
        Clock.Advance(TimeSpan.FromSeconds(11));

        Assert.Equal(LeaseStatus.Acquired, cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease));

        Assert.True(lease!.IsHeld);
        Assert.True(cache.TryGetStale("key", new byte[3], out _));
        lease.Dispose();
        Assert.True(cache.TryGetStale("key", new byte[3], out _));
        Assert.Equal(LeaseStatus.Acquired, cache.AcquireLease("key", TimeSpan.Zero, out lease));
        Assert.True(lease!.TrySet("new"u8));
        Assert.Equal("new", cache.GetString("key"));
    }

    [Fact]
    public void Changes_are_reported_by_the_hash_of_their_key()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection films = store.Collection("films");
        ulong hash = films.HashOf("film:1");
        int partition = store.Engine.Memory.Place(hash).Partition;
        InvalidationCursor cursor = store.GetInvalidationCursor(partition);

        films.Set("film:1", "Arrival"u8);

        var hashes = new ulong[8];
        Assert.Equal(InvalidationStatus.Changed, store.ReadInvalidations(partition, ref cursor, hashes, out int count));
        Assert.Contains(hash, hashes[..count]);
    }

    [Fact]
    public void Hits_allocate_nothing()
    {
        CairnStore store = Open(Encrypted);
        CairnCollection cache = store.DefaultCollection;
        var value = new byte[100];
        cache.Set("a key of some bytes", value);
        cache.Set("another key", value, TimeSpan.FromHours(1), flags: 1);
        for (int i = 0; i < 3; i++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();

            Assert.True(cache.TryGet("a key of some bytes", value, out int _));
            Assert.True(cache.TryGet("another key", value, out int _));
            Assert.True(cache.Set("a key of some bytes", value));
            Assert.True(cache.Set("another key", value, TimeSpan.FromHours(1), flags: 1));

            if (i > 0)
            {
                Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
            }
        }
    }
}
