namespace Cairn.Tests.Invalidation;

/// <summary>The changes of which other processes are notified.</summary>
public sealed class InvalidationTests : StoreTest
{
    private readonly ulong[] _hashes = new ulong[10_000];

    [Fact]
    public void Every_change_of_a_key_is_reported_once_in_order()
    {
        CairnStore reader = OpenAgain();
        int partition = Cache.PartitionOf("key");
        Cache.Set("key", "0"u8);
        InvalidationCursor cursor = reader.GetInvalidationCursor(partition);
        Action[] changes =
        [
            () => Cache.Set("key", "1"u8),
            () => Cache.Replace("key", "2"u8),
            () => Cache.Append("key", "3"u8),
            () => Cache.Prepend("key", "4"u8),
            () => Cache.Increment("key", 1, out _),
            () => Cache.Touch("key", TimeSpan.FromDays(1)),
            () => Cache.Set("key", new byte[300_000]),
            () => Cache.Remove("key"),
            () => Cache.Remove("key"),
            () => Cache.Add("key", "5"u8),
            () => Cache.Set("key", "6"u8, Expiration.At(DateTimeOffset.UnixEpoch)),
        ];

        foreach (Action change in changes)
        {
            change();
            Assert.Equal([Cache.HashOf("key")], Read(reader, partition, ref cursor));
            Assert.Empty(Read(reader, partition, ref cursor));
        }
    }

    [Fact]
    public void Reads_and_declined_writes_are_no_changes()
    {
        Cache.Set("key", "value"u8);
        int partition = Cache.PartitionOf("key");
        InvalidationCursor cursor = Store.GetInvalidationCursor(partition);

        Cache.Get("key");
        Cache.TryGetInfo("key", out EntryInfo info);
        Cache.Add("key", "x"u8);
        Cache.CompareAndSwap("key", "x"u8, info.Version + 1);
        Cache.CompareAndRemove("key", info.Version + 1);
        Cache.Increment("key", 1, out _);

        Assert.Equal(InvalidationStatus.None, Store.ReadInvalidations(partition, ref cursor, _hashes, out int count));
        Assert.Equal(0, count);
    }

    [Fact]
    public void Changes_are_reported_in_pieces_that_fit_the_buffer()
    {
        string[] keys = KeysOf(partition: 0, count: 10);
        InvalidationCursor cursor = Store.GetInvalidationCursor(0);
        foreach (string key in keys)
        {
            Cache.Set(key, "x"u8);
        }

        var seen = new List<ulong>();
        var piece = new ulong[3];
        while (Store.ReadInvalidations(0, ref cursor, piece, out int count) == InvalidationStatus.Changed)
        {
            seen.AddRange(piece[..count]);
        }

        Assert.Equal(keys.Select(key => Cache.HashOf(key)), seen);
        Cache.Set(keys[0], "y"u8);
        Assert.Equal(InvalidationStatus.Changed, Store.ReadInvalidations(0, ref cursor, [], out int none));
        Assert.Equal(0, none);
        Assert.Equal([Cache.HashOf(keys[0])], Read(Store, 0, ref cursor));
    }

    [Fact]
    public void More_changes_than_the_ring_holds_are_an_overrun()
    {
        InvalidationCursor cursor = Store.GetInvalidationCursor(0);
        string[] keys = KeysOf(partition: 0, count: 5000);
        foreach (string key in keys)
        {
            Cache.Set(key, "x"u8);
        }

        Assert.Equal(InvalidationStatus.Overrun, Store.ReadInvalidations(0, ref cursor, _hashes, out int count));
        Assert.Equal(0, count);
        Assert.Equal(InvalidationStatus.None, Store.ReadInvalidations(0, ref cursor, _hashes, out _));
        Cache.Set(keys[7], "y"u8);
        Assert.Equal([Cache.HashOf(keys[7])], Read(Store, 0, ref cursor));
    }

    [Fact]
    public void Number_of_changes_that_is_reported_without_overrun_has_no_gap()
    {
        string[] keys = KeysOf(partition: 0, count: 64);
        for (int changes = 1; changes <= 5000; changes = (changes * 5 / 4) + 1)
        {
            InvalidationCursor cursor = Store.GetInvalidationCursor(0);
            for (int i = 0; i < changes; i++)
            {
                Cache.Set(keys[i % 64], "x"u8);
            }

            InvalidationStatus status = Store.ReadInvalidations(0, ref cursor, _hashes, out int count);
            if (status != InvalidationStatus.Overrun)
            {
                Assert.Equal(Enumerable.Range(0, changes).Select(i => Cache.HashOf(keys[i % 64])), _hashes[..count]);
            }
            else
            {
                Assert.True(changes >= 64, $"overrun after {changes} changes");
            }
        }
    }

    [Fact]
    public void Clearing_is_an_overrun_of_every_partition()
    {
        InvalidationCursor[] cursors =
            [.. Enumerable.Range(0, Store.PartitionCount).Select(partition => Store.GetInvalidationCursor(partition))];

        Store.Collection("other").Clear();

        for (int partition = 0; partition < Store.PartitionCount; partition++)
        {
            Assert.Equal(
                InvalidationStatus.Overrun, Store.ReadInvalidations(partition, ref cursors[partition], _hashes, out _));
            Assert.Equal(
                InvalidationStatus.None, Store.ReadInvalidations(partition, ref cursors[partition], _hashes, out _));
        }
    }

    [Fact]
    public void Keys_of_collections_have_hashes_of_their_own()
    {
        CairnCollection other = Store.Collection("other");

        Assert.NotEqual(Cache.HashOf("key"), other.HashOf("key"));
        Assert.Equal(Cache.HashOf("key"), OpenAgain().DefaultCollection.HashOf("key"));

        InvalidationCursor[] cursors =
            [.. Enumerable.Range(0, Store.PartitionCount).Select(partition => Store.GetInvalidationCursor(partition))];
        other.Set("key", "x"u8);
        ulong[] seen =
            [.. Enumerable.Range(0, Store.PartitionCount).SelectMany(partition => Read(Store, partition, ref cursors[partition]))];
        Assert.Equal([other.HashOf("key")], seen);
    }

    [Fact]
    public void Cursor_from_another_store_is_an_overrun()
    {
        CairnStore busy = Open(Options with { Path = PathOf("busy.cairn") });
        for (int i = 0; i < 100; i++)
        {
            busy.DefaultCollection.Set($"{i}", "x"u8);
        }

        int partition = Enumerable.Range(0, busy.PartitionCount).First(p => busy.GetInvalidationCursor(p).Position > 0);
        InvalidationCursor cursor = busy.GetInvalidationCursor(partition);

        Assert.Equal(InvalidationStatus.Overrun, Store.ReadInvalidations(partition, ref cursor, _hashes, out _));
        Assert.Equal(InvalidationStatus.None, Store.ReadInvalidations(partition, ref cursor, _hashes, out _));
    }

    [Fact]
    public void Partition_out_of_range_is_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => Store.GetInvalidationCursor(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => Store.GetInvalidationCursor(Store.PartitionCount));
        var cursor = default(InvalidationCursor);
        Assert.Throws<ArgumentOutOfRangeException>(
            () => Store.ReadInvalidations(Store.PartitionCount, ref cursor, _hashes, out _));
    }

    private ulong[] Read(CairnStore store, int partition, ref InvalidationCursor cursor)
    {
        InvalidationStatus status = store.ReadInvalidations(partition, ref cursor, _hashes, out int count);
        Assert.Equal(count == 0 ? InvalidationStatus.None : InvalidationStatus.Changed, status);
        return _hashes[..count];
    }

    private string[] KeysOf(int partition, int count) =>
        [.. Enumerable.Range(0, int.MaxValue).Select(i => $"key {i}").Where(key => Cache.PartitionOf(key) == partition).Take(count)];
}
