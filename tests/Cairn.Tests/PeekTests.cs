using System.Buffers;

namespace Cairn.Tests;

/// <summary>Reads for tools, which must not influence the store.</summary>
public sealed class PeekTests : StoreTest
{
    [Fact]
    public void Peeking_finds_what_a_read_finds()
    {
        Cache.Set("book:42", "Dune"u8, flags: 7);
        var copy = new ArrayBufferWriter<byte>();

        bool isThere = Cache.TryPeek("book:42", copy, out EntryInfo info);

        Assert.True(isThere);
        Assert.Equal("Dune"u8, copy.WrittenSpan);
        Assert.Equal((4, 7U), (info.ValueBytes, info.Flags));
    }

    [Fact]
    public void Peeking_at_nothing_adds_nothing()
    {
        var copy = new ArrayBufferWriter<byte>();

        bool isThere = Cache.TryPeek("book:42", copy, out EntryInfo info);

        Assert.False(isThere);
        Assert.Equal(0, copy.WrittenCount);
        Assert.Equal(default, info);
    }

    [Fact]
    public void Peeking_counts_neither_as_a_hit_nor_as_a_miss()
    {
        Cache.Set("book:42", "Dune"u8);

        Cache.TryPeek("book:42", new ArrayBufferWriter<byte>(), out _);
        Cache.TryPeek("book:43", new ArrayBufferWriter<byte>(), out _);

        StoreStatistics statistics = Store.GetStatistics();
        Assert.Equal((0, 0), (statistics.Totals.Hits, statistics.Totals.Misses));
    }

    [Fact]
    public void Peeking_does_not_extend_a_sliding_expiration()
    {
        Cache.Set("alice", "token"u8, Expiration.Sliding(TimeSpan.FromMinutes(20)));

        Clock.Advance(TimeSpan.FromMinutes(19));
        Assert.True(Cache.TryPeek("alice", new ArrayBufferWriter<byte>(), out _));
        Clock.Advance(TimeSpan.FromMinutes(1));

        Assert.False(Cache.Contains("alice"));
    }

    [Fact]
    public void Limit_of_a_sliding_expiration_can_be_read_back()
    {
        DateTimeOffset limit = Clock.Now + TimeSpan.FromHours(1);
        Cache.Set("limited", "token"u8, Expiration.Sliding(TimeSpan.FromMinutes(20), limit));
        Cache.Set("unlimited", "token"u8, Expiration.Sliding(TimeSpan.FromMinutes(20)));
        Cache.Set("absolute", "token"u8, Expiration.At(limit));

        Assert.True(Cache.TryGetInfo("limited", out EntryInfo limited));
        Assert.True(Cache.TryGetInfo("unlimited", out EntryInfo unlimited));
        Assert.True(Cache.TryGetInfo("absolute", out EntryInfo absolute));

        Assert.Equal(limit, limited.SlidingLimit);
        Assert.Null(unlimited.SlidingLimit);
        Assert.Null(absolute.SlidingLimit);
        Assert.Equal(limit, absolute.ExpiresAt);
    }
}
