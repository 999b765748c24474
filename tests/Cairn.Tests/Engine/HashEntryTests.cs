using Cairn.Tests.Offline;

namespace Cairn.Tests.Engine;

/// <summary>The store treats a hash as an entry like any other. A caller that reads values does not see it.</summary>
public sealed class HashEntryTests : StoreTest
{
    [Fact]
    public void Hash_is_no_value_and_takes_the_key()
    {
        HashEntry.Set(Store, "key", "fields"u8);

        Assert.Null(Cache.Get("key"));
        Assert.False(Cache.TryPin("key", out _));
        Assert.Equal("fields"u8.ToArray(), HashEntry.Get(Store, "key"));
        Assert.Equal(WriteStatus.Exists, Cache.Add("key", "value"u8));

        Assert.True(Cache.Set("key", "value"u8));
        Assert.Equal("value"u8.ToArray(), Cache.Get("key"));
        Assert.Null(HashEntry.Get(Store, "key"));
    }

    [Theory]
    [InlineData(10)]
    [InlineData(300_000)]
    public void Lease_replaces_a_hash_because_a_hash_is_no_value(int length)
    {
        HashEntry.Set(Store, "key", TestBytes.Of(length));
        int partition = Cache.PartitionOf("key");
        InvalidationCursor cursor = Store.GetInvalidationCursor(partition);
        Span<ulong> hashes = stackalloc ulong[8];

        Assert.Equal(LeaseStatus.Acquired, Cache.AcquireLease("key", TimeSpan.Zero, out StoreLease? lease));

        Assert.Null(HashEntry.Get(Store, "key"));
        Assert.Equal(InvalidationStatus.Changed, Store.ReadInvalidations(partition, ref cursor, hashes, out int count));
        Assert.Equal([Cache.HashOf("key")], hashes[..count].ToArray());
        Assert.True(lease!.TrySet("value"u8));
        Assert.Equal("value"u8.ToArray(), Cache.Get("key"));
        Assert.Equal(1, Store.GetStatistics().Totals.Entries);
    }

    [Fact]
    public void Hashes_are_verified_and_kept_by_compacting()
    {
        var expected = new Dictionary<string, byte[]>();
        for (int i = 0; i < 300; i++)
        {
            expected[$"hash:{i}"] = TestBytes.Of(1 + (i * 37 % 2_000), seed: i);
            HashEntry.Set(Store, $"hash:{i}", expected[$"hash:{i}"]);
            Cache.Set($"value:{i}", "value"u8);
        }

        expected["long"] = TestBytes.Of(300_000);
        HashEntry.Set(Store, "long", expected["long"]);
        Store.Dispose();

        VerifyReport before = StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock });
        CompactReport report = StoreMaintenance.Compact(FilePath, new CompactOptions { TimeProvider = Clock });
        VerifyReport after = StoreMaintenance.Verify(FilePath, new VerifyOptions { TimeProvider = Clock });

        Assert.True(before.IsSound);
        Assert.Empty(before.Findings);
        Assert.Equal(601, before.Entries);
        Assert.Equal((601, 0, 0), (report.EntriesKept, report.EntriesDamaged, report.EntriesEvicted));
        Assert.True(after.IsSound);
        Assert.Equal(601, after.Entries);
        CairnStore store = OpenAgain();
        Assert.All(expected, pair => Assert.Equal(pair.Value, HashEntry.Get(store, pair.Key)));
        Assert.Equal("value"u8.ToArray(), store.DefaultCollection.Get("value:7"));
    }
}
