using System.Buffers;
using System.IO.Pipelines;

namespace Cairn.Caching.AspNetCore.Tests;

/// <summary>The behaviour of an output cache's store for the middleware and for any other caller.</summary>
public sealed class CairnOutputCacheStoreTests : OutputCacheStoreTest
{
    private static readonly byte[] Response = TestBytes.Of(5_000);

    [Fact]
    public async Task Response_is_there_until_its_time_is_over()
    {
        await SetAsync("key", "response", "tag");
        Assert.Equal("response", await GetAsync("key"));
        Assert.Null(await GetAsync("other"));

        Clock.Advance(Hour);
        Assert.Null(await GetAsync("key"));
    }

    [Fact]
    public async Task Pipes_and_sequences_carry_the_same_bytes()
    {
        ReadOnlySequence<byte> pieces = Cut(Response);
        await Store.SetAsync("key", pieces, new[] { "", "a", "ключ" }, Hour, CancellationToken.None);

        var pipe = new Pipe(new PipeOptions(pauseWriterThreshold: 0));
        Assert.True(await Store.TryGetAsync("key", pipe.Writer, CancellationToken.None));
        await pipe.Writer.CompleteAsync();

        ReadResult read = await pipe.Reader.ReadAsync();
        Assert.Equal(Response, read.Buffer.ToArray());
        Assert.Equal(Response, await Store.GetAsync("key", CancellationToken.None));
        Assert.False(await Store.TryGetAsync("other", pipe.Writer, CancellationToken.None));
    }

    [Fact]
    public async Task Empty_response_is_a_response()
    {
        await SetAsync("key", "", "tag");

        Assert.Equal("", await GetAsync("key"));
    }

    [Theory]
    [InlineData("tag")]
    [InlineData("")]
    [InlineData("þ")]
    [InlineData("ключ 😀")]
    public async Task Evicting_a_tag_voids_what_carries_it_and_nothing_else(string tag)
    {
        await SetAsync("one", "1", tag);
        await SetAsync("two", "2", "a", tag, "z");
        await SetAsync("three", "3", "a", "z");
        await SetAsync("four", "4");

        await EvictAsync(tag);

        Assert.Null(await GetAsync("one"));
        Assert.Null(await GetAsync("two"));
        Assert.Equal("3", await GetAsync("three"));
        Assert.Equal("4", await GetAsync("four"));

        await SetAsync("one", "again", tag);
        Assert.Equal("again", await GetAsync("one"));
    }

    [Fact]
    public async Task Tags_differ_by_case_and_an_unknown_one_may_be_evicted()
    {
        await SetAsync("key", "response", "tag");

        await EvictAsync("TAG");
        await EvictAsync("unknown");
        await EvictAsync("\ud800");
        await EvictAsync(new string('t', 100_000));

        Assert.Equal("response", await GetAsync("key"));
    }

    [Fact]
    public async Task Response_replaces_an_earlier_one_with_its_tags()
    {
        await SetAsync("key", "first", "a");
        await SetAsync("key", "second", "b");

        await EvictAsync("a");
        Assert.Equal("second", await GetAsync("key"));

        await EvictAsync("b");
        Assert.Null(await GetAsync("key"));
    }

    [Fact]
    public async Task Response_that_a_store_cannot_take_is_counted_and_ends_the_earlier_one()
    {
        string longTag = new('t', 1_025);
        await SetAsync("long response", "earlier");
        await SetAsync("long tag", "earlier");

        await Store.SetAsync("long response", new byte[StoreDirectory.SmallCapacityBytes / 8], null, Hour, CancellationToken.None);
        await SetAsync("long tag", "response", longTag);
        await SetAsync("wrong tag", "response", "\ud800");
        await SetAsync(new string('k', 65_537), "response");
        await SetAsync(new string('к', 32_769), "response");
        await SetAsync("\udc00", "response");
        await SetAsync("", "response");

        Assert.Equal(7, Store.UnstorableResponses);
        foreach (string key in (string[])["long response", "long tag", "wrong tag", new('k', 65_537), new('к', 32_769), "\udc00", ""])
        {
            Assert.Null(await GetAsync(key));
        }

        await SetAsync(new string('к', 32_768), "response", longTag[1..]);
        Assert.Equal("response", await GetAsync(new string('к', 32_768)));
    }

    [Fact]
    public async Task Time_that_is_not_above_zero_removes_and_the_longest_means_no_expiration()
    {
        await SetAsync("key", "response");
        await Store.SetAsync("key", Response, null, TimeSpan.Zero, CancellationToken.None);
        Assert.Null(await GetAsync("key"));

        await Store.SetAsync("key", Response, null, TimeSpan.MaxValue, CancellationToken.None);
        Clock.Advance(TimeSpan.FromDays(200_000));
        Assert.NotNull(await GetAsync("key"));
    }

    [Fact]
    public async Task Null_is_refused_and_a_cancelled_call_does_nothing()
    {
        var cancelled = new CancellationToken(canceled: true);
        var pipe = new Pipe();
        await SetAsync("key", "response", "tag");

        await Assert.ThrowsAsync<ArgumentNullException>(() => Store.GetAsync(null!, default).AsTask());
        await Assert.ThrowsAsync<ArgumentNullException>(() => Store.TryGetAsync(null!, pipe.Writer, default).AsTask());
        await Assert.ThrowsAsync<ArgumentNullException>(() => Store.TryGetAsync("key", null!, default).AsTask());
        await Assert.ThrowsAsync<ArgumentNullException>(() => Store.SetAsync(null!, Response, null, Hour, default).AsTask());
        await Assert.ThrowsAsync<ArgumentNullException>(() => Store.SetAsync("key", null!, null, Hour, default).AsTask());
        await Assert.ThrowsAsync<ArgumentNullException>(() => Store.SetAsync("key", Response, ["tag", null!], Hour, default).AsTask());
        await Assert.ThrowsAsync<ArgumentNullException>(() => Store.EvictByTagAsync(null!, default).AsTask());
        Assert.Throws<ArgumentNullException>(() => new CairnOutputCacheStore(null!));
        Assert.True(Store.GetAsync("key", cancelled).AsTask().IsCanceled);
        Assert.True(Store.TryGetAsync("key", pipe.Writer, cancelled).AsTask().IsCanceled);
        Assert.True(Store.SetAsync("key", Response, null, Hour, cancelled).AsTask().IsCanceled);
        Assert.True(Store.EvictByTagAsync("tag", cancelled).AsTask().IsCanceled);
        Assert.Equal("response", await GetAsync("key"));
    }

    [Fact]
    public async Task Bytes_that_are_not_ours_are_a_miss_and_go()
    {
        await SetAsync("key", "response", "tag");
        using CairnStore beside = OpenBeside();
        CairnCollection responses = beside.Collection("output-cache");
        byte[] envelope = responses.Get("key")!;
        byte[][] foreign =
        [
            [], [1], "a value of another program"u8.ToArray(), envelope[..7], envelope[..12], envelope[..19],
            [.. envelope[..4], 2, 0, .. envelope[6..]], [.. envelope[..4], 255, 255, .. envelope[6..]], [.. envelope[..16], 200, 200, .. envelope[18..]],
        ];

        foreach (byte[] bytes in foreign)
        {
            responses.Set("key", bytes);

            Assert.Null(await GetAsync("key"));
            Assert.False(responses.Contains("key"));
        }
    }

    [Fact]
    public async Task Void_response_gives_its_room_back_when_it_is_met()
    {
        await SetAsync("key", "response", "tag");
        await EvictAsync("tag");
        using CairnStore beside = OpenBeside();
        Assert.True(beside.Collection("output-cache").Contains("key"));

        await GetAsync("key");

        Assert.False(beside.Collection("output-cache").Contains("key"));
    }

    [Fact]
    public async Task Closed_store_says_so()
    {
        await SetAsync("key", "response", "tag");
        using CairnStore beside = OpenBeside();
        Store.Dispose();
        Store.Dispose();

        await Assert.ThrowsAsync<ObjectDisposedException>(() => GetAsync("key"));
        await Assert.ThrowsAsync<ObjectDisposedException>(() => SetAsync("key", "response"));
        await Assert.ThrowsAsync<ObjectDisposedException>(() => EvictAsync("tag"));
        Assert.False(beside.Engine.Owners.AnyOtherAlive());
    }

    [Fact]
    public void Mistake_in_the_options_names_it_and_leaves_the_store_closed()
    {
        CairnOutputCacheOptions options = StoreOptions;
        options.CollectionName = new string('n', 188);

        Assert.Throws<ArgumentException>(() => new CairnOutputCacheStore(options));

        using CairnStore beside = OpenBeside();
        Assert.False(beside.Engine.Owners.AnyOtherAlive());
    }

    private static ReadOnlySequence<byte> Cut(byte[] value)
    {
        var first = new Piece(value.AsMemory(0, value.Length / 3));
        Piece last = first.Append(value.AsMemory(value.Length / 3));
        return new ReadOnlySequence<byte>(first, 0, last, last.Memory.Length);
    }

    private sealed class Piece : ReadOnlySequenceSegment<byte>
    {
        public Piece(ReadOnlyMemory<byte> memory) => Memory = memory;

        public Piece Append(ReadOnlyMemory<byte> memory)
        {
            var next = new Piece(memory) { RunningIndex = RunningIndex + Memory.Length };
            Next = next;
            return next;
        }
    }
}
