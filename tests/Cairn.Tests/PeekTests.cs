using System.Buffers;

namespace Cairn.Tests;

/// <summary>What a tool can see of a store without taking part in it.</summary>
public sealed class PeekTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly SettableClock _clock = new();
    private readonly CairnStore _store;

    public PeekTests() => _store = CairnStore.Open(new StoreOptions
    {
        Path = _directory["peek.cairn"],
        CapacityBytes = StoreOptions.SmallestCapacityBytes,
        Clock = _clock,
    });

    public void Dispose()
    {
        _store.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Peeking_finds_what_a_read_finds()
    {
        _store.Set("book:42", "Dune"u8, flags: 7);
        var copy = new ArrayBufferWriter<byte>();

        bool isThere = _store.TryPeek("book:42", copy, out EntryInfo info);

        Assert.True(isThere);
        Assert.Equal("Dune"u8, copy.WrittenSpan);
        Assert.Equal((4, 7U), (info.ValueBytes, info.Flags));
    }

    [Fact]
    public void Peeking_at_nothing_adds_nothing()
    {
        var copy = new ArrayBufferWriter<byte>();

        bool isThere = _store.TryPeek("book:42", copy, out EntryInfo info);

        Assert.False(isThere);
        Assert.Equal(0, copy.WrittenCount);
        Assert.Equal(default, info);
    }

    [Fact]
    public void Peeking_counts_neither_as_a_hit_nor_as_a_miss()
    {
        _store.Set("book:42", "Dune"u8);

        _store.TryPeek("book:42", new ArrayBufferWriter<byte>(), out _);
        _store.TryPeek("book:43", new ArrayBufferWriter<byte>(), out _);

        StoreStatistics statistics = _store.GetStatistics();
        Assert.Equal((0, 0), (statistics.Hits, statistics.Misses));
    }

    [Fact]
    public void Peeking_does_not_extend_a_sliding_expiration()
    {
        _store.Set("alice", "token"u8, Expiration.Sliding(TimeSpan.FromMinutes(20)));

        _clock.Now += TimeSpan.FromMinutes(19);
        Assert.True(_store.TryPeek("alice", new ArrayBufferWriter<byte>(), out _));
        _clock.Now += TimeSpan.FromMinutes(1);

        Assert.False(_store.Contains("alice"));
    }

    [Fact]
    public void Limit_of_a_sliding_expiration_can_be_read_back()
    {
        DateTimeOffset limit = _clock.Now + TimeSpan.FromHours(1);
        _store.Set("limited", "token"u8, Expiration.Sliding(TimeSpan.FromMinutes(20), limit));
        _store.Set("unlimited", "token"u8, Expiration.Sliding(TimeSpan.FromMinutes(20)));
        _store.Set("absolute", "token"u8, Expiration.At(limit));

        Assert.True(_store.TryGetInfo("limited", out EntryInfo limited));
        Assert.True(_store.TryGetInfo("unlimited", out EntryInfo unlimited));
        Assert.True(_store.TryGetInfo("absolute", out EntryInfo absolute));

        Assert.Equal(limit, limited.SlidingLimit);
        Assert.Null(unlimited.SlidingLimit);
        Assert.Null(absolute.SlidingLimit);
        Assert.Equal(limit, absolute.ExpiresAt);
    }

    [Fact]
    public void Empty_file_is_no_store_that_exists()
    {
        string file = _directory["empty"];
        File.WriteAllBytes(file, []);

        Assert.Throws<StoreCorruptException>(
            () => CairnStore.Open(new StoreOptions { Path = file, OpenMode = StoreOpenMode.OpenExisting }));

        Assert.Equal(0, new FileInfo(file).Length);
    }

    [Fact]
    public void Nobody_is_told_to_delete_a_file_that_is_no_store()
    {
        string file = _directory["notes.txt"];
        File.WriteAllText(file, new string('x', 8192));

        var refusal = Assert.Throws<StoreCorruptException>(() => CairnStore.Open(new StoreOptions { Path = file }));

        Assert.Contains("is not a Cairn store", refusal.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("or delete", refusal.Message, StringComparison.Ordinal);
        Assert.Equal(8192, new FileInfo(file).Length);
    }

    private sealed class SettableClock : TimeProvider
    {
        public DateTimeOffset Now { get; set; } = new(2026, 1, 2, 3, 4, 5, TimeSpan.Zero);

        public override DateTimeOffset GetUtcNow() => Now;
    }
}
