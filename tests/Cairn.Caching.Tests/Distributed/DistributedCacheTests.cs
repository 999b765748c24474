using System.Buffers;
using System.Text;
using Cairn.Concurrency;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching.Tests.Distributed;

/// <summary>A distributed cache in a store file, as one process sees it.</summary>
public sealed class DistributedCacheTests : DistributedCacheTest
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly byte[] Dune = "Dune"u8.ToArray();

    [Fact]
    public void Stored_value_is_read_until_it_is_removed()
    {
        Cache.Set("book:42", Dune);
        Assert.Equal(Dune, Cache.Get("book:42"));

        Cache.Remove("book:42");
        Assert.Null(Cache.Get("book:42"));
        Assert.Null(Cache.Get("book:43"));
    }

    [Theory]
    [InlineData("")]
    [InlineData(" ")]
    [InlineData("\0")]
    [InlineData("книга:42")]
    [InlineData("ÿ")]
    [InlineData("😀")]
    public void Any_text_is_a_key_and_none_is_another(string key)
    {
        string[] others = [.. new[] { "", " ", "\0", "книга:42", "ÿ", "😀" }.Where(other => other != key)];

        Cache.Set(key, Dune);

        Assert.Equal(Dune, Cache.Get(key));
        Assert.All(others, other => Assert.Null(Cache.Get(other)));
    }

    [Fact]
    public void Longest_key_works_and_a_longer_one_is_refused_by_every_method()
    {
        string longest = new('k', 65_536);
        Cache.Set(longest, Dune);
        Assert.Equal(Dune, Cache.Get(longest));

        foreach (string key in (string[])[longest + "k", "\ud800"])
        {
            Assert.Throws<ArgumentException>(() => Cache.Set(key, Dune));
            Assert.Throws<ArgumentException>(() => Cache.Get(key));
            Assert.Throws<ArgumentException>(() => Cache.Refresh(key));
            Assert.Throws<ArgumentException>(() => Cache.Remove(key));
            Assert.Throws<ArgumentException>(() => Cache.TryGet(key, new ArrayBufferWriter<byte>()));
        }
    }

    [Fact]
    public void Longest_value_works_and_a_longer_one_is_refused_without_harm()
    {
        byte[] longest = TestBytes.Of((int)StoreDirectory.SmallCapacityBytes / 8);
        Cache.Set("key", longest);

        byte[] longer = [.. longest, 0];
        var options = new DistributedCacheEntryOptions();
        Assert.Throws<ArgumentOutOfRangeException>(() => Cache.Set("key", longer));
        Assert.Throws<ArgumentOutOfRangeException>(() => Cache.Set("key", new ReadOnlySequence<byte>(longer), options));
        Assert.Throws<ArgumentOutOfRangeException>(() => Cache.Set("key", Cut(longer), options));

        Assert.Equal(longest, Cache.Get("key"));
        Assert.Equal(0, Cache.DroppedWrites);
    }

    [Fact]
    public void Empty_value_is_a_value()
    {
        Cache.Set("key", []);

        Assert.Empty(Cache.Get("key")!);
        Assert.True(Cache.TryGet("key", new ArrayBufferWriter<byte>()));
    }

    [Fact]
    public void Buffers_in_one_piece_or_many_hold_the_same_value()
    {
        byte[] value = TestBytes.Of(10_000);
        var options = new DistributedCacheEntryOptions();
        Cache.Set("whole", new ReadOnlySequence<byte>(value), options);
        Cache.Set("cut", Cut(value), options);

        foreach (string key in (string[])["whole", "cut"])
        {
            var target = new ArrayBufferWriter<byte>();
            target.Write("before"u8);
            Assert.True(Cache.TryGet(key, target));
            Assert.Equal("before"u8.ToArray().Concat(value), target.WrittenMemory.ToArray());
        }

        var untouched = new ArrayBufferWriter<byte>();
        Assert.False(Cache.TryGet("missing", untouched));
        Assert.Equal(0, untouched.WrittenCount);
    }

    [Fact]
    public async Task Asynchronous_methods_are_done_when_they_return()
    {
        var options = new DistributedCacheEntryOptions();

        Assert.True(Cache.SetAsync("a", Dune).IsCompletedSuccessfully);
        Assert.True(Cache.SetAsync("b", new ReadOnlySequence<byte>(Dune), options).AsTask().IsCompletedSuccessfully);
        Assert.True(Cache.RefreshAsync("a").IsCompletedSuccessfully);
        Task<byte[]?> read = Cache.GetAsync("a");
        Task<bool> copied = Cache.TryGetAsync("b", new ArrayBufferWriter<byte>()).AsTask();
        Assert.True(read.IsCompletedSuccessfully && copied.IsCompletedSuccessfully);
        Assert.Equal(Dune, await read);
        Assert.True(await copied);
        Assert.True(Cache.RemoveAsync("a").IsCompletedSuccessfully);
        Assert.Null(await Cache.GetAsync("a"));
    }

    [Fact]
    public void Cancelled_call_does_nothing()
    {
        var cancelled = new CancellationToken(canceled: true);
        var options = new DistributedCacheEntryOptions();
        Cache.Set("key", Dune);

        Assert.True(Cache.SetAsync("key", [1], options, cancelled).IsCanceled);
        Assert.True(Cache.SetAsync("key", new ReadOnlySequence<byte>([1]), options, cancelled).AsTask().IsCanceled);
        Assert.True(Cache.RemoveAsync("key", cancelled).IsCanceled);
        Assert.True(Cache.RefreshAsync("key", cancelled).IsCanceled);
        Assert.True(Cache.GetAsync("key", cancelled).IsCanceled);
        Assert.True(Cache.TryGetAsync("key", new ArrayBufferWriter<byte>(), cancelled).AsTask().IsCanceled);
        Assert.Equal(Dune, Cache.Get("key"));
    }

    [Fact]
    public void Null_is_refused()
    {
        var options = new DistributedCacheEntryOptions();

        Assert.Throws<ArgumentNullException>(() => Cache.Get(null!));
        Assert.Throws<ArgumentNullException>(() => Cache.Set(null!, Dune));
        Assert.Throws<ArgumentNullException>(() => Cache.Set("key", null!));
        Assert.Throws<ArgumentNullException>(() => Cache.Set("key", Dune, null!));
        Assert.Throws<ArgumentNullException>(() => Cache.Set("key", new ReadOnlySequence<byte>(Dune), null!));
        Assert.Throws<ArgumentNullException>(() => Cache.Set(null!, new ReadOnlySequence<byte>(Dune), options));
        Assert.Throws<ArgumentNullException>(() => Cache.Refresh(null!));
        Assert.Throws<ArgumentNullException>(() => Cache.Remove(null!));
        Assert.Throws<ArgumentNullException>(() => Cache.TryGet("key", null!));
        Assert.Throws<ArgumentNullException>(() => new CairnDistributedCache(null!));
    }

    [Fact]
    public void Entry_is_readable_until_its_moment_and_gone_at_it()
    {
        Cache.Set("relative", Dune, In(10 * Second));
        Cache.Set("moment", Dune, new() { AbsoluteExpiration = Clock.Now + (10 * Second) });

        Clock.Advance(10 * Second - TimeSpan.FromMilliseconds(1));
        Assert.NotNull(Cache.Get("relative"));
        Assert.NotNull(Cache.Get("moment"));

        Clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Null(Cache.Get("relative"));
        Assert.Null(Cache.Get("moment"));
    }

    [Fact]
    public void Refresh_slides_as_a_read_does_and_a_read_of_another_key_does_not()
    {
        foreach (string key in (string[])["read", "buffer", "refreshed", "left"])
        {
            Cache.Set(key, Dune, Sliding(10 * Second));
        }

        Clock.Advance(9 * Second);
        Cache.Get("read");
        Cache.TryGet("buffer", new ArrayBufferWriter<byte>());
        Cache.Refresh("refreshed");
        Clock.Advance(9 * Second);

        Assert.NotNull(Cache.Get("read"));
        Assert.NotNull(Cache.Get("buffer"));
        Assert.NotNull(Cache.Get("refreshed"));
        Assert.Null(Cache.Get("left"));
    }

    [Fact]
    public void Use_in_the_first_eighth_of_the_interval_does_not_extend_it()
    {
        Cache.Set("key", Dune, Sliding(8 * Second));

        Clock.Advance(Second - TimeSpan.FromMilliseconds(1));
        Cache.Get("key");
        Clock.Advance((7 * Second) + TimeSpan.FromMilliseconds(1));

        Assert.Null(Cache.Get("key"));
    }

    [Fact]
    public void Moment_that_has_passed_removes_the_key_and_is_no_dropped_write()
    {
        DateTimeOffset[] moments = [Clock.Now, Clock.Now - Second, DateTimeOffset.MinValue, DateTimeOffset.UnixEpoch];
        foreach (DateTimeOffset moment in moments)
        {
            Cache.Set("key", Dune);
            Cache.Set("key", [1], new() { AbsoluteExpiration = moment, SlidingExpiration = Second });
            Assert.Null(Cache.Get("key"));
        }

        Assert.Equal(0, Cache.DroppedWrites);
    }

    [Fact]
    public void Longest_times_mean_that_it_does_not_expire()
    {
        Cache.Set("relative", Dune, In(TimeSpan.MaxValue));
        Cache.Set("sliding", Dune, Sliding(TimeSpan.MaxValue));
        Cache.Set("moment", Dune, new() { AbsoluteExpiration = DateTimeOffset.MaxValue });
        Cache.Set("century", Dune, In(TimeSpan.FromDays(100_000)));

        Clock.Advance(TimeSpan.FromDays(99_999));

        Assert.All(new[] { "relative", "sliding", "moment", "century" }, key => Assert.NotNull(Cache.Get(key)));
    }

    [Fact]
    public void Earlier_of_the_two_absolute_forms_counts()
    {
        Cache.Set("a", Dune, new() { AbsoluteExpiration = Clock.Now + (5 * Second), AbsoluteExpirationRelativeToNow = 10 * Second });
        Cache.Set("b", Dune, new() { AbsoluteExpiration = Clock.Now + (10 * Second), AbsoluteExpirationRelativeToNow = 5 * Second });
        Cache.Set("c", Dune, new() { AbsoluteExpiration = Clock.Now + (5 * Second), AbsoluteExpirationRelativeToNow = TimeSpan.MaxValue });

        Clock.Advance(5 * Second);

        Assert.All(new[] { "a", "b", "c" }, key => Assert.Null(Cache.Get(key)));
    }

    [Fact]
    public void Failed_work_of_the_store_is_logged_once_by_all_caches_over_it_and_not_after_they_are_closed()
    {
        using var first = new RecordingLoggers();
        using var second = new RecordingLoggers();
        CairnStore store;
        using (var one = new CairnDistributedCache(CacheOptions, first.For<CairnDistributedCache>()))
        using (new CairnDistributedCache(CacheOptions, second.For<CairnDistributedCache>()))
        {
            store = one.OpenStore;
            store.Engine.Failures.Report("Sweeping", "The disk is broken.");
        }

        store.Engine.Failures.Report("Growing", "The disk is broken.");
        Assert.Equal($"Warning 102: The store '{FilePath}': Sweeping failed; it is tried again: The disk is broken.", Assert.Single(first.Lines));
        Assert.Empty(second.Lines);
    }

    [Fact]
    public void Write_that_cannot_have_the_lock_is_dropped_and_counted_and_the_earlier_value_is_gone()
    {
        Cache.Set("key", Dune);
        Cache.Set("removed", Dune);
        using (var other = CairnStore.Open(new StoreOptions { Path = FilePath, FlushOnClose = false }))
        {
            using var held = new HeldPartitions(other);

            Cache.Set("key", [1]);
            Cache.Remove("removed");

            Assert.Equal(1, Cache.DroppedWrites);
            Assert.Null(Cache.Get("key"));
            Assert.Null(Cache.Get("removed"));
        }

        Cache.Set("key", [2]);
        Assert.Equal(new byte[] { 2 }, Cache.Get("key"));
        Assert.Equal(1, Cache.DroppedWrites);
    }

    [Fact]
    public void Refresh_that_meets_a_writer_extends_when_that_is_done()
    {
        var clock = new LookedAtClock(Clock);
        CairnDistributedCacheOptions options = CacheOptions;
        options.TimeProvider = clock;
        using var cache = new CairnDistributedCache(options);
        using var other = CairnStore.Open(new StoreOptions { Path = FilePath, FlushOnClose = false });
        cache.Set("key", Dune, Sliding(8 * Second));
        Clock.Advance(7 * Second);

        // The first attempt reads the clock for the deadline and for the extension.
        clock.AtLook(3, new HeldPartitions(other).Dispose);
        cache.Refresh("key");

        Clock.Advance(7 * Second);
        Assert.NotNull(cache.Get("key"));
    }

    [Fact]
    public void Refresh_that_cannot_have_the_lock_gives_up_and_harms_nothing()
    {
        Cache.Set("key", Dune, Sliding(8 * Second));
        Clock.Advance(7 * Second);
        using var other = CairnStore.Open(new StoreOptions { Path = FilePath, FlushOnClose = false });
        using (new HeldPartitions(other))
        {
            Cache.Refresh("key");
            Assert.Equal(Dune, Cache.Get("key"));
        }

        Clock.Advance(Second);
        Assert.Null(Cache.Get("key"));
    }

    [Fact]
    public void Closed_cache_says_so_and_what_it_held_is_there_when_it_is_opened_again()
    {
        CairnDistributedCache closed = Cache;
        closed.Set("key", Dune, Sliding(10 * Second));
        Reopen();
        closed.Dispose();

        Assert.Throws<ObjectDisposedException>(() => closed.Get("key"));
        Assert.Throws<ObjectDisposedException>(() => closed.Set("key", Dune));
        Clock.Advance(9 * Second);
        Assert.Equal(Dune, Cache.Get("key"));
        Clock.Advance(9 * Second);
        Assert.Equal(Dune, Cache.Get("key"));
    }

    [Fact]
    public void Closed_cache_says_so_also_while_another_uses_the_store()
    {
        var other = new CairnDistributedCache(CacheOptions);
        other.Dispose();

        Assert.Throws<ObjectDisposedException>(() => other.Get("key"));
        Cache.Set("key", Dune);
    }

    [Fact]
    public void Collections_of_a_file_are_caches_of_their_own()
    {
        CairnDistributedCacheOptions options = CacheOptions;
        options.CollectionName = "sessions";
        using var sessions = new CairnDistributedCache(options);

        Cache.Set("key", Dune);
        sessions.Set("key", [1]);

        Assert.Equal(Dune, Cache.Get("key"));
        Assert.Equal(new byte[] { 1 }, sessions.Get("key"));
    }

    [Fact]
    public void Budget_is_remembered_in_the_file_until_an_opening_names_another()
    {
        CairnDistributedCacheOptions options = CacheOptions;
        options.BudgetBytes = 1 << 20;
        new CairnDistributedCache(options).Dispose();

        Cache.Set("key", Dune);

        using var store = CairnStore.Open(new StoreOptions { Path = FilePath, FlushOnClose = false });
        Assert.Equal(1 << 20, store.GetStatistics().Collections.Single(collection => collection.Name == "distributed-cache").BudgetBytes);
    }

    [Fact]
    public void Store_of_the_application_is_used_as_it_is_and_stays_open()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = FilePath, CapacityBytes = 1 << 20, FlushOnClose = false, TimeProvider = Clock });

        using (var cache = new CairnDistributedCache(new CairnDistributedCacheOptions { Store = store }))
        {
            cache.Set("key", Dune, In(Second));
            Assert.Equal(Dune, store.Collection("distributed-cache").Get("key"));
            Clock.Advance(Second);
            Assert.Null(cache.Get("key"));
        }

        Assert.True(store.DefaultCollection.Set("key", Dune));
    }

    [Fact]
    public void Mistake_in_the_options_names_it()
    {
        using var store = CairnStore.Open(new StoreOptions { Path = FilePath, CapacityBytes = 1 << 20, FlushOnClose = false });

        Assert.Equal("Path", Assert.Throws<ArgumentException>(() => Open(o => o.Store = store)).ParamName);
        Assert.Equal("CapacityBytes", Assert.Throws<ArgumentOutOfRangeException>(() => Open(o => o.CapacityBytes = 1)).ParamName);
        Assert.Equal("LockTimeout", Assert.Throws<ArgumentOutOfRangeException>(() => Open(o => o.LockTimeout = TimeSpan.Zero)).ParamName);
        Assert.Equal("BudgetBytes", Assert.Throws<ArgumentOutOfRangeException>(() => Open(o => o.BudgetBytes = -1)).ParamName);
        Assert.Throws<ArgumentException>(() => Open(o => o.CollectionName = ""));
        Assert.Throws<ArgumentException>(() => Open(o => o.CollectionName = new string('n', 193)));
        Assert.Throws<DirectoryNotFoundException>(() => Open(o => o.Path = Path.Combine(DirectoryPath, "missing", "store.cairn")));
        Assert.Throws<StoreException>(() => Open(o => o.Path = DirectoryPath));
    }

    [Fact]
    public void Cache_that_cannot_be_made_leaves_the_store_closed()
    {
        Assert.Throws<ArgumentException>(() => Open(o => o.CollectionName = ""));

        using var store = CairnStore.Open(new StoreOptions { Path = FilePath, FlushOnClose = false });
        Assert.False(store.Engine.Owners.AnyOtherAlive());
    }

    private void Open(Action<CairnDistributedCacheOptions> change)
    {
        CairnDistributedCacheOptions options = CacheOptions;
        change(options);
        new CairnDistributedCache(options).Dispose();
    }

    private static ReadOnlySequence<byte> Cut(byte[] value)
    {
        var first = new Piece(value.AsMemory(0, value.Length / 3));
        Piece last = first.Append(value.AsMemory(value.Length / 3));
        return new ReadOnlySequence<byte>(first, 0, last, last.Memory.Length);
    }

    private sealed class LookedAtClock(ManualClock clock) : TimeProvider
    {
        private Action? _action;
        private int _looks;

        public void AtLook(int look, Action action)
        {
            _action = action;
            _looks = look;
        }

        public override DateTimeOffset GetUtcNow()
        {
            if (_action is { } action && --_looks <= 0)
            {
                _action = null;
                action();
            }

            return clock.Now;
        }
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
