using System.Globalization;
using Cairn.FileStore.Sharing;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.FileStore.Tests.Versions;

/// <summary>IDistributedFileStoreCacheString.</summary>
public sealed class StringTests : IDisposable
{
    private readonly CacheFile _file = new();

    public static TheoryData<string> Texts =>
    [
        "", " ", "plain", "quotes \" and \\ backslashes", "lines\r\n\ttabs", "\0\u0001\u001f\u007f", "Grüße, 你好, שלום", "emoji 😀🏳️‍🌈",
        "\ud800", "\udc00 alone", "a\ud83dz", "\udc00\ud800", "\u2028\u2029\ufeff\ufffe", "{\"json\":[1,2]}", new('x', 100_000), "]}\n", ",\n[\"a\"",
    ];

    public void Dispose() => _file.Dispose();

    [Fact]
    public void Keys_come_in_the_order_in_which_they_were_first_set_also_to_another_process()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.SetMany([new("b", "1"), new("a", "2"), new("d", "3")]);

        cache.Set("b", "4");
        cache.Remove("a");
        cache.Set("c", "5");
        cache.Set("a", "6");

        Assert.Equal(["b", "d", "c", "a"], cache.GetAllKeyValues().Keys);
        Assert.Equal(["b", "d", "c", "a"], _file.Open().GetAllKeyValues().Keys);
    }

    [Fact]
    public void Value_is_read_until_it_is_replaced_or_removed()
    {
        DistributedFileStoreCacheString cache = _file.Open();

        Assert.Null(cache.Get("book"));
        cache.Set("book", "Dune");
        Assert.Equal("Dune", cache.Get("book"));
        cache.Set("book", "Emma");
        Assert.Equal("Emma", cache.Get("book"));
        cache.Remove("book");
        Assert.Null(cache.Get("book"));
        cache.Remove("book");
        Assert.Null(_file.Open().Get("book"));
    }

    [Theory]
    [MemberData(nameof(Texts))]
    public void Any_text_comes_back_as_it_was_as_key_and_as_value(string text)
    {
        DistributedFileStoreCacheString cache = _file.Open();

        cache.Set("key", text);
        cache.Set(text, "value");

        DistributedFileStoreCacheString other = _file.Open();
        Assert.Equal(text, other.Get("key"));
        Assert.Equal("value", other.Get(text));
        Assert.Equal("value", cache.Get(text));
    }

    [Fact]
    public void Every_code_unit_comes_back_as_it_was()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        string[] texts = [.. Enumerable.Range(0, 0x10000).Chunk(512).Select(units => new string([.. units.Select(unit => (char)unit)]))];

        cache.SetMany([.. texts.Select((text, i) => KeyValuePair.Create(i.ToString(CultureInfo.InvariantCulture), text))]);

        DistributedFileStoreCacheString other = _file.Open();
        for (int i = 0; i < texts.Length; i++)
        {
            Assert.Equal(texts[i], other.Get(i.ToString(CultureInfo.InvariantCulture)));
        }
    }

    [Fact]
    public void File_has_one_entry_a_line_and_ends_with_its_closing_brackets()
    {
        DistributedFileStoreCacheString cache = _file.Open();

        cache.Set("a", "1");
        cache.Set("b", "two\nlines");
        cache.Remove("a");

        Assert.Equal(
            """
            {"format":"cairn.filestore/2","entries":[
            ["a","1"],
            ["b","two\nlines"],
            {"key":"a","removed":true}
            ]}

            """,
            _file.Text);
    }

    [Fact]
    public void Entry_is_gone_at_its_expiration_at_once()
    {
        var clock = new ManualClock();
        DistributedFileStoreCacheString cache = _file.Open(options => options.TimeProvider = clock);
        cache.Set("a", "1", CacheFile.For(TimeSpan.FromSeconds(10)));
        cache.Set("b", "2", new DistributedCacheEntryOptions { AbsoluteExpiration = clock.Now.AddSeconds(20) });

        clock.Advance(TimeSpan.FromSeconds(10) - TimeSpan.FromTicks(1));
        Assert.Equal("1", cache.Get("a"));
        Assert.Equal(2, cache.GetAllKeyValues().Count);

        clock.Advance(TimeSpan.FromTicks(1));
        Assert.Null(cache.Get("a"));
        Assert.Equal("2", Assert.Single(cache.GetAllKeyValues()).Value);
        Assert.Equal("b", Assert.Single(cache.GetMany(["a", "b"])).Key);
        Assert.Null(_file.Open(options => options.TimeProvider = clock).Get("a"));
    }

    [Fact]
    public void Setting_a_key_again_without_an_expiration_takes_its_expiration_away()
    {
        var clock = new ManualClock();
        DistributedFileStoreCacheString cache = _file.Open(options => options.TimeProvider = clock);
        cache.Set("a", "1", CacheFile.For(TimeSpan.FromSeconds(10)));

        cache.Set("a", "2");

        clock.Advance(TimeSpan.FromDays(1));
        Assert.Equal("2", cache.Get("a"));
    }

    [Fact]
    public void Expired_entries_leave_the_file_with_the_next_change()
    {
        var clock = new ManualClock();
        DistributedFileStoreCacheString cache = _file.Open(options => options.TimeProvider = clock);
        cache.SetMany([new("old1", "x"), new("old2", "x")], CacheFile.For(TimeSpan.FromSeconds(10)));
        cache.Set("new", "y", CacheFile.For(TimeSpan.FromSeconds(20)));
        clock.Advance(TimeSpan.FromSeconds(10));
        Assert.Contains("old", _file.Text, StringComparison.Ordinal);

        cache.Set("other", "z");

        Assert.DoesNotContain("old", _file.Text, StringComparison.Ordinal);
        Assert.Equal(["new", "other"], cache.GetAllKeyValues().Keys.Order(StringComparer.Ordinal));
        Assert.Equal(2, _file.Open(options => options.TimeProvider = clock).GetAllKeyValues().Count);
    }

    [Fact]
    public void Expired_entries_leave_the_file_with_the_next_change_also_if_the_file_has_just_been_rewritten()
    {
        var clock = new ManualClock();
        DistributedFileStoreCacheString cache = _file.Open(options => options.TimeProvider = clock);

        for (int i = 0; i < 10; i++)
        {
            cache.ClearAll();
            cache.Set($"old{i}", "x", CacheFile.For(TimeSpan.FromTicks(1)));
            clock.Advance(TimeSpan.FromTicks(1));
            cache.Set("other", "z");
            Assert.DoesNotContain("old", _file.Text, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void Clock_that_is_set_back_does_not_keep_expired_entries_in_the_file()
    {
        var clock = new ManualClock();
        DistributedFileStoreCacheString cache = _file.Open(options => options.TimeProvider = clock);
        for (int i = 0; i < 100; i++)
        {
            cache.ClearAll();
        }

        clock.Set(clock.Now.AddDays(-1));
        cache.Set("old", "x", CacheFile.For(TimeSpan.FromTicks(1)));
        clock.Advance(TimeSpan.FromTicks(1));
        cache.Set("other", "z");

        Assert.DoesNotContain("old", _file.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void Entries_that_expire_all_the_time_have_the_file_rewritten_twenty_times_and_then_once_a_second()
    {
        var clock = new ManualClock();
        DistributedFileStoreCacheString cache = _file.Open(options => options.TimeProvider = clock);
        DistributedFileStoreCacheString other = _file.Open(options => options.TimeProvider = clock);
        int rewrites = 0;
        ulong before = 0;

        for (int i = 0; i < 200; i++)
        {
            (i % 2 == 0 ? cache : other).Set("short", "x", CacheFile.For(TimeSpan.FromMilliseconds(50)));
            ulong now = FileStamp.Of(_file.FilePath).Inode;
            rewrites += now == before ? 0 : 1;
            before = now;
            clock.Advance(TimeSpan.FromMilliseconds(50));
        }

        Assert.InRange(rewrites, 10, 32); // Within 10 seconds. The new file of a rewrite exists beside the old one, so its number differs.
        Assert.Null(cache.Get("short"));
    }

    [RequiresMountFact]
    public void Expired_entries_stay_when_there_is_no_room_to_rewrite_the_file_and_the_change_is_made()
    {
        using TestMount mount = TestMount.Tmpfs(128 << 10);
        var clock = new ManualClock();
        using var cache = new DistributedFileStoreCacheString(CacheFile.Options(mount.Path, options => options.TimeProvider = clock));
        cache.Set("large", new string('x', 90_000));
        cache.Set("old", "x", CacheFile.For(TimeSpan.FromSeconds(10)));
        clock.Advance(TimeSpan.FromSeconds(10));

        cache.Set("new", "y");

        Assert.Null(cache.Get("old"));
        Assert.Equal("y", cache.Get("new"));
        Assert.Contains("old", File.ReadAllText(mount["FileStoreCacheFile.Test.json"]), StringComparison.Ordinal);
    }

    [Fact]
    public void Garbage_does_not_exceed_half_the_file_for_long()
    {
        DistributedFileStoreCacheString cache = _file.Open();

        for (int i = 0; i < 5000; i++)
        {
            cache.Set($"key{i % 10}", $"{i}{new string('x', 1000)}");
            Assert.True(new FileInfo(_file.FilePath).Length < 600_000);
        }

        Assert.Equal(10, _file.Open().GetAllKeyValues().Count);
    }

    [Fact]
    public void Many_are_set_with_one_write_and_the_last_of_a_key_counts()
    {
        DistributedFileStoreCacheString cache = _file.Open();

        cache.SetMany([new("a", "1"), new("b", "2"), new("a", "3")]);
        cache.SetMany([]);

        Assert.Equal("3", cache.Get("a"));
        Assert.Equal("2", cache.Get("b"));
        Assert.Equal(["3", "2"], _file.Open().GetMany(["a", "b", "c", "a"]).OrderBy(pair => pair.Key).Select(pair => pair.Value));
    }

    [Fact]
    public void ClearAll_leaves_only_what_it_was_given()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        DistributedFileStoreCacheString other = _file.Open();
        cache.Set("a", "1");
        Assert.Equal("1", other.Get("a"));

        cache.ClearAll([new("b", "2")]);

        Assert.Equal("2", Assert.Single(other.GetAllKeyValues()).Value);
        cache.ClearAll();
        Assert.Empty(other.GetAllKeyValues());
        Assert.Equal("{\"format\":\"cairn.filestore/2\",\"entries\":[\n]}\n", _file.Text);
        cache.Set("c", "3");
        Assert.Equal("3", other.Get("c"));
    }

    [Fact]
    public void All_keys_and_values_are_the_same_object_until_something_changes()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        DistributedFileStoreCacheString other = _file.Open();
        cache.Set("a", "1");

        IReadOnlyDictionary<string, string> before = cache.GetAllKeyValues();
        Assert.Same(before, cache.GetAllKeyValues());
        other.Set("b", "2");

        Assert.Equal(2, cache.GetAllKeyValues().Count);
        Assert.Single(before);
        Assert.IsNotType<Dictionary<string, string>>(before);
    }

    [Fact]
    public void Null_keys_and_values_are_refused()
    {
        DistributedFileStoreCacheString cache = _file.Open();

        Assert.Throws<ArgumentNullException>(() => cache.Get(null!));
        Assert.Throws<ArgumentNullException>(() => cache.Set(null!, "1"));
        Assert.Throws<ArgumentNullException>(() => cache.Set("a", null!));
        Assert.Throws<ArgumentNullException>(() => cache.Remove(null!));
        Assert.Throws<ArgumentNullException>(() => cache.SetMany(null!));
        Assert.Throws<ArgumentNullException>(() => cache.SetMany([new("a", null!)]));
        Assert.Throws<ArgumentNullException>(() => cache.GetMany([null!]));
    }

    [Fact]
    public void Sliding_expiration_is_refused_unless_it_is_allowed()
    {
        DistributedFileStoreCacheString cache = _file.Open();

        var refusal = Assert.Throws<NotImplementedException>(() => cache.Set("a", "1", new DistributedCacheEntryOptions { SlidingExpiration = TimeSpan.FromSeconds(1) }));

        Assert.Equal("This library doesn't support sliding expirations for performance reasons.", refusal.Message);
        Assert.Null(cache.Get("a"));
    }

    [Fact]
    public void Sliding_entry_lives_while_it_is_used_and_no_longer_than_its_absolute_expiration()
    {
        var clock = new ManualClock();
        Action<DistributedFileStoreCacheOptions> configure = options =>
        {
            options.TimeProvider = clock;
            options.AllowSlidingExpiration = true;
        };
        DistributedFileStoreCacheString cache = _file.Open(configure);
        DistributedFileStoreCacheString other = _file.Open(configure);
        cache.Set("a", "1", new DistributedCacheEntryOptions { SlidingExpiration = TimeSpan.FromMinutes(8), AbsoluteExpirationRelativeToNow = TimeSpan.FromMinutes(20) });
        cache.Set("idle", "1", new DistributedCacheEntryOptions { SlidingExpiration = TimeSpan.FromMinutes(8) });

        for (int i = 0; i < 3; i++)
        {
            clock.Advance(TimeSpan.FromMinutes(6));
            Assert.Equal("1", (i % 2 == 0 ? cache : other).Get("a"));
        }

        Assert.Null(cache.Get("idle"));
        clock.Advance(TimeSpan.FromMinutes(2));
        Assert.Null(cache.Get("a"));
        Assert.Null(other.Get("a"));
    }

    [Fact]
    public async Task Asynchronous_members_do_the_same()
    {
        DistributedFileStoreCacheString cache = _file.Open(options => options.Durability = FileStoreDurability.PowerLoss);

        await cache.SetAsync("a", "1");
        await cache.SetManyAsync([new("b", "2"), new("c", "3")]);
        await cache.RemoveAsync("c");

        Assert.Equal("1", await cache.GetAsync("a"));
        Assert.Equal(2, (await cache.GetAllKeyValuesAsync()).Count);
        await Assert.ThrowsAsync<OperationCanceledException>(() => cache.SetAsync("a", "2", token: new CancellationToken(canceled: true)));
        Assert.Equal("1", await _file.Open().GetAsync("a"));
    }

    [Fact]
    public void Change_beyond_the_limit_is_an_exception_that_names_it_and_changes_nothing()
    {
        DistributedFileStoreCacheString cache = _file.Open(options => options.MaxBytesInJsonCacheFile = 1000);
        cache.Set("a", new string('x', 500));
        cache.Set("b", "small");

        var refusal = Assert.Throws<DistributedFileStoreCacheException>(() => cache.Set("b", new string('y', 500)));

        Assert.StartsWith(
            "Your cache json file has more that 1000 bytes, so you MUST set the option's MaxBytesInJsonCacheFile to a bigger value.",
            refusal.Message,
            StringComparison.Ordinal);
        Assert.Equal("small", cache.Get("b"));
        Assert.Throws<DistributedFileStoreCacheException>(() => cache.ClearAll([new("c", new string('z', 1000))]));
        Assert.Equal("small", _file.Open().Get("b"));
        cache.Remove("a");
        cache.Set("b", new string('y', 500));
        Assert.Equal(500, cache.Get("b")!.Length);
    }

    [Fact]
    public void Limit_counts_what_is_there_not_what_was_replaced()
    {
        DistributedFileStoreCacheString cache = _file.Open(options => options.MaxBytesInJsonCacheFile = 1000);

        for (int i = 0; i < 100; i++)
        {
            cache.Set("a", new string('x', 500));
        }

        Assert.Equal(500, cache.Get("a")!.Length);
    }

    [Fact]
    public void Calculated_limit_has_room_for_the_entries_it_was_calculated_for()
    {
        DistributedFileStoreCacheString cache = _file.Open(options => options.SetMaxBytesByCalculation(100, 10, 50, charSize: 6, percentWithTimeout: 50));

        for (int i = 0; i < 100; i++)
        {
            cache.Set($"key{i:D7}", new string('\u0001', 50), i % 2 == 0 ? CacheFile.For(TimeSpan.FromDays(1)) : null);
        }

        Assert.Equal(100, cache.GetAllKeyValues().Count);
    }

    [Fact]
    public void Token_of_a_key_fires_when_any_cache_changes_that_key()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        DistributedFileStoreCacheString other = _file.Open();
        cache.Set("a", "1");
        Microsoft.Extensions.Primitives.IChangeToken token = cache.Watch("a");
        Microsoft.Extensions.Primitives.IChangeToken untouched = cache.Watch("c");
        Microsoft.Extensions.Primitives.IChangeToken any = cache.Watch();

        other.Set("b", "2");
        Eventually.True(() => any.HasChanged);
        Assert.False(token.HasChanged);
        other.Set("a", "2");
        Eventually.True(() => token.HasChanged);

        Assert.False(untouched.HasChanged);
        Microsoft.Extensions.Primitives.IChangeToken next = cache.Watch("a");
        Assert.False(next.HasChanged);
        cache.Remove("a");
        Eventually.True(() => next.HasChanged);
    }

    [Fact]
    public void Callback_that_throws_does_not_end_the_process_and_the_next_change_is_reported()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        int calls = 0;
        using IDisposable first = Microsoft.Extensions.Primitives.ChangeToken.OnChange(() => cache.Watch("a"), Fail);
        using IDisposable second = Microsoft.Extensions.Primitives.ChangeToken.OnChange(() => cache.Watch(), Fail);

        cache.Set("a", "1");
        Eventually.True(() => Volatile.Read(ref calls) == 2);
        cache.Set("a", "2");

        Eventually.True(() => Volatile.Read(ref calls) == 4);

        void Fail()
        {
            Interlocked.Increment(ref calls);
            throw new InvalidOperationException("The callback says so.");
        }
    }

    [Fact]
    public void Oldest_token_fires_when_there_is_no_room_for_another()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        Microsoft.Extensions.Primitives.IChangeToken oldest = cache.Watch("oldest");
        Microsoft.Extensions.Primitives.IChangeToken second = cache.Watch("second");
        for (int i = 2; i < Cairn.FileStore.Engine.ChangeTokens.KeysAtMost; i++)
        {
            cache.Watch($"key {i}");
        }

        cache.Watch("oldest"); // The key already has a place.
        Assert.False(oldest.HasChanged);
        cache.Watch("one more");
        Eventually.True(() => oldest.HasChanged);
        Assert.False(second.HasChanged);
        cache.Set("second", "1");
        Eventually.True(() => second.HasChanged);
    }

    [Fact]
    public void Closed_cache_says_that_it_is_closed()
    {
        DistributedFileStoreCacheString cache = _file.Open();
        cache.Set("a", "1");

        cache.Dispose();
        cache.Dispose();

        Assert.Throws<ObjectDisposedException>(() => cache.Get("a"));
        Assert.Throws<ObjectDisposedException>(() => cache.Set("a", "1"));
        Assert.Throws<ObjectDisposedException>(() => cache.GetAllKeyValues());
    }

    [Fact]
    public async Task Readers_see_a_batch_all_at_once()
    {
        DistributedFileStoreCacheString writer = _file.Open();
        DistributedFileStoreCacheString reader = _file.Open();
        await writer.SetManyAsync([new("a", "0"), new("b", "0")]);
        using var isDone = new CancellationTokenSource();

        // The reader reads b before a. If it saw a part of a batch, a could be older than b.
        Task<int> reading = OwnThread.Run(() =>
        {
            int older = 0;
            while (!isDone.IsCancellationRequested)
            {
                int b = int.Parse(reader.Get("b")!, CultureInfo.InvariantCulture);
                older += int.Parse(reader.Get("a")!, CultureInfo.InvariantCulture) < b ? 1 : 0;
                IReadOnlyDictionary<string, string> all = reader.GetAllKeyValues();
                older += all["a"] == all["b"] ? 0 : 1;
            }

            return older;
        });
        await OwnThread.Run(() =>
        {
            for (int i = 1; i < 3000; i++)
            {
                string text = i.ToString(CultureInfo.InvariantCulture);
                (i % 2 == 0 ? reader : writer).SetMany([new("a", text), new("b", text)]);
            }
        });

        await isDone.CancelAsync();
        Assert.Equal(0, await reading);
    }
}
