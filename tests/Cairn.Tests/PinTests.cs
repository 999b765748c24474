namespace Cairn.Tests;

/// <summary>Values that are read in place.</summary>
public sealed class PinTests : StoreTest
{
    [Theory]
    [InlineData(100)]
    [InlineData(60_000)]
    [InlineData(1 << 20)]
    public void Pinned_bytes_never_change_however_much_is_evicted(int length)
    {
        byte[] value = TestBytes.Of(length);
        Cache.Set("pinned", value);
        Assert.True(Cache.TryPin("pinned", out PinnedValue? pinned));
        Cache.Remove("pinned");
        Cache.Set("pinned", "other"u8);

        for (int i = 0; i < 3_000; i++)
        {
            Cache.Set($"key {i}", TestBytes.Of(10_000, seed: i));
        }

        Assert.Equal(value, pinned.Value.ToArray());
        pinned.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pinned.Value.Length);
    }

    [Fact]
    public void Pin_of_another_opening_holds_back_eviction_too()
    {
        byte[] value = TestBytes.Of(500);
        Cache.Set("pinned", value);
        CairnStore other = OpenAgain();
        Assert.True(other.DefaultCollection.TryPin("pinned", out PinnedValue? pinned));

        for (int i = 0; i < 3_000; i++)
        {
            Cache.Set($"key {i}", TestBytes.Of(10_000, seed: i));
        }

        Assert.Equal(value, pinned.Value.ToArray());
        pinned.Dispose();
    }

    [Fact]
    public void Disposing_a_pin_twice_releases_it_once()
    {
        Cache.Set("a", "value"u8);
        Cache.TryPin("a", out PinnedValue? first);
        first!.Dispose();
        Cache.TryPin("a", out PinnedValue? second);

        first.Dispose();

        Assert.Equal("value"u8, second!.Value);
        second.Dispose();
    }

    [Fact]
    public void Pinned_value_stays_readable_after_the_store_is_closed()
    {
        CairnStore store = Open(Options);
        store.DefaultCollection.Set("key", "value"u8);
        store.DefaultCollection.TryPin("key", out PinnedValue? pinned);

        store.Dispose();

        Assert.Equal("value"u8, pinned!.Value);
        pinned.Dispose();
    }

    [Fact]
    public void Pinned_value_of_a_closed_store_is_safe_from_the_others()
    {
        byte[] value = TestBytes.Of(3000);
        CairnStore closing = Open(Options);
        closing.DefaultCollection.Set("key", value);
        closing.DefaultCollection.TryPin("key", out PinnedValue? pinned);
        closing.Dispose();

        for (int i = 0; i < 3_000; i++)
        {
            Cache.Set($"key {i}", TestBytes.Of(10_000, seed: i));
        }

        Assert.Equal(value, pinned!.Value.ToArray());
        Assert.Equal(2, Store.GetStatistics().Openings);
        pinned.Dispose();
        Assert.Equal(1, Store.GetStatistics().Openings);
    }

    [Fact]
    public void Stream_of_a_value_seeks_and_reads_in_pieces()
    {
        byte[] value = TestBytes.Of(100_000);
        Cache.Set("key", value);
        using Stream stream = Cache.OpenRead("key")!;
        var piece = new byte[1000];

        Assert.Equal(100_000, stream.Length);
        stream.Position = 99_500;
        Assert.Equal(500, stream.Read(piece));
        Assert.Equal(value[99_500..], piece[..500]);
        Assert.Equal(0, stream.Read(piece));
        Assert.Equal(50, stream.Seek(50, SeekOrigin.Begin));
        Assert.Equal(1000, stream.Read(piece, 0, 1000));
        Assert.Equal(value[50..1050], piece);
        Assert.Equal(1060, stream.Seek(10, SeekOrigin.Current));
        Assert.Equal(99_999, stream.Seek(-1, SeekOrigin.End));
        Assert.Equal(value[^1], stream.ReadByte());
        Assert.Equal(-1, stream.ReadByte());
        Assert.Equal(200_000, stream.Seek(100_000, SeekOrigin.End));
        Assert.Equal(0, stream.Read(piece));
    }

    [Fact]
    public async Task Stream_of_a_value_can_be_read_asynchronously_and_cancelled()
    {
        Cache.Set("key", "value"u8);
        await using Stream stream = Cache.OpenRead("key")!;
        var buffer = new byte[8];

        Assert.Equal(5, await stream.ReadAsync(buffer));

        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            async () => _ = await stream.ReadAtLeastAsync(buffer, 1, cancellationToken: new CancellationToken(canceled: true)));
    }

    [Fact]
    public void Stream_of_a_value_cannot_be_changed()
    {
        Cache.Set("key", "value"u8);
        using Stream stream = Cache.OpenRead("key")!;

        Assert.True(stream.CanRead);
        Assert.True(stream.CanSeek);
        Assert.False(stream.CanWrite);
        Assert.Throws<NotSupportedException>(() => stream.Write([1]));
        Assert.Throws<NotSupportedException>(() => stream.SetLength(0));
        Assert.Throws<ArgumentOutOfRangeException>(() => stream.Position = -1);
        Assert.Throws<ArgumentOutOfRangeException>(() => stream.Seek(-6, SeekOrigin.End));
        stream.Flush();
    }

    [Fact]
    public void Segments_are_used_again_when_they_are_no_longer_pinned()
    {
        CairnStore store = Open(Options with { CapacityBytes = StoreLimits.MinCapacityBytes });
        CairnCollection cache = store.DefaultCollection;
        for (int round = 0; round < 50; round++)
        {
            var pins = new List<PinnedValue>();
            for (int i = 0; i < 64; i++)
            {
                Assert.True(cache.Set($"{round}:{i}", TestBytes.Of(3000, seed: i)), $"round {round}, value {i}");
                if (cache.TryPin($"{round}:{i}", out PinnedValue? pinned))
                {
                    pins.Add(pinned);
                }
            }

            for (int i = 0; i < 100; i++)
            {
                cache.Set($"filler {i}", new byte[2000]);
            }

            pins.ForEach(pin => pin.Dispose());
        }

        StoreStatistics statistics = store.GetStatistics();
        Assert.True(statistics.Totals.SegmentBytes + ((long)statistics.FreeSegments * statistics.BytesPerSegment) <= statistics.FileBytes);
        Assert.True(cache.Set("last", "value"u8));
    }
}
