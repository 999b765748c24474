using Cairn.Caching.Levels;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Options;

namespace Cairn.Caching.Tests.Levels;

/// <summary>A second level over an IDistributedCache that works.</summary>
public class DistributedLevelTests
{
    public static TheoryData<string> Caches => ["memory", "other"];

    [Theory]
    [MemberData(nameof(Caches))]
    public async Task Written_value_is_read_until_it_is_removed(string kind)
    {
        await using var level = new LevelUnderTest(Cache(kind));

        Assert.Null(await level.ReadAsync("a"));
        Assert.Equal(LevelStatus.Done, await level.WriteAsync("a", "1"));
        Assert.Equal("1", await level.ReadAsync("a"));
        Assert.Equal(LevelStatus.Done, await level.WriteAsync("a", "2"));
        Assert.Equal("2", await level.ReadAsync("a"));
        Assert.Equal(LevelStatus.Done, await level.RemoveAsync("a"));
        Assert.Null(await level.ReadAsync("a"));
        Assert.Equal(0, level.Level.PendingChanges);
    }

    [Theory]
    [MemberData(nameof(Caches))]
    public async Task Clearing_drops_values_and_stamps_and_ends_leases(string kind)
    {
        await using var level = new LevelUnderTest(Cache(kind));
        await level.WriteAsync("a", "1");
        ulong stamp = await level.StampAsync("tag");
        LeaseResult lease = await level.LeaseAsync("b");

        Assert.Equal(LevelStatus.Done, await level.Level.ClearAsync(CancellationToken.None));

        Assert.Null(await level.ReadAsync("a"));
        Assert.NotEqual(stamp, await level.StampAsync("tag"));
        Assert.False(lease.Lease!.IsHeld);
        Assert.Equal(LevelStatus.LeaseLost, await level.WriteAsync("b", "1", lease.Lease));
        Assert.Equal(1, level.Sink.All);
        Assert.Equal(LevelStatus.Done, await level.WriteAsync("a", "2"));
        Assert.Equal("2", await level.ReadAsync("a"));
    }

    [Fact]
    public async Task A_stamp_stays_until_it_is_renewed()
    {
        await using var level = new LevelUnderTest(new FaultyDistributedCache());

        ulong first = await level.StampAsync("tag");
        Assert.True(LevelUnderTest.IsKnown(first));
        Assert.Equal(first, await level.StampAsync("tag"));
        Assert.NotEqual(first, await level.StampAsync("other"));

        Assert.Equal(LevelStatus.Done, await level.RenewAsync("tag"));
        Assert.NotEqual(first, await level.StampAsync("tag"));
        Assert.Equal([level.TagHash("tag")], level.Sink.Changed);
    }

    [Fact]
    public async Task A_damaged_stamp_becomes_a_new_one()
    {
        var cache = new FaultyDistributedCache();
        await using var level = new LevelUnderTest(cache);
        ulong first = await level.StampAsync("tag");

        foreach (byte[] record in cache.Content.Where(pair => pair.Key.EndsWith(":t:tag", StringComparison.Ordinal)).Select(pair => pair.Value))
        {
            record[9] ^= 4;
        }

        ulong second = await level.StampAsync("tag");
        Assert.NotEqual(first, second);
        Assert.True(LevelUnderTest.IsKnown(second));
        Assert.Equal(1, level.Counters.Damaged);
        Assert.Equal(second, await level.StampAsync("tag"));
    }

    [Fact]
    public async Task Expiration_is_sent_relative_to_now_and_a_write_that_is_too_late_removes()
    {
        var cache = new FaultyDistributedCache();
        await using var level = new LevelUnderTest(cache);
        long now = level.Clock.Now.ToUnixTimeMilliseconds();

        await level.Level.WriteAsync("a", level.Hash("a"), new byte[] { 1 }, new(now + 5000, 2000), null, CancellationToken.None);
        DistributedCacheEntryOptions options = cache.Options[":k:a"];
        Assert.Equal(TimeSpan.FromSeconds(5), options.AbsoluteExpirationRelativeToNow);
        Assert.Equal(TimeSpan.FromSeconds(2), options.SlidingExpiration);

        await level.Level.WriteAsync("a", level.Hash("a"), new byte[] { 1 }, new(now, 0), null, CancellationToken.None);
        Assert.Null(await level.ReadAsync("a"));
        Assert.False(cache.Content.ContainsKey(":k:a"));
    }

    [Fact]
    public async Task Caches_of_different_names_keep_apart_whatever_the_names()
    {
        var cache = new FaultyDistributedCache();
        await using var one = new LevelUnderTest(cache, options: new() { Name = "a" });
        await using var other = new LevelUnderTest(cache, options: new() { Name = "a:k" });

        await one.WriteAsync("k:x", "1");
        await other.WriteAsync("x", "2");

        Assert.Equal("1", await one.ReadAsync("k:x"));
        Assert.Equal("2", await other.ReadAsync("x"));
        await one.Level.ClearAsync(CancellationToken.None);
        Assert.Null(await one.ReadAsync("k:x"));
        Assert.Equal("2", await other.ReadAsync("x"));
    }

    [Fact]
    public async Task Many_are_read_as_one_by_one()
    {
        await using var level = new LevelUnderTest(new FaultyDistributedCache());
        string[] keys = [.. Enumerable.Range(0, 100).Select(i => $"k{i}")];
        foreach (string key in keys.Where((_, i) => i % 3 == 0))
        {
            await level.WriteAsync(key, key);
        }

        var targets = keys.Select(_ => new System.Buffers.ArrayBufferWriter<byte>()).ToArray();
        var statuses = new LevelStatus[keys.Length];
        await level.Level.ReadManyAsync(keys, keys.Select(level.Hash).ToArray(), targets, statuses, CancellationToken.None);

        Assert.All(keys.Index(), pair =>
        {
            bool isThere = pair.Index % 3 == 0;
            Assert.Equal(isThere ? LevelStatus.Hit : LevelStatus.Miss, statuses[pair.Index]);
            Assert.Equal(isThere ? pair.Item : "", System.Text.Encoding.UTF8.GetString(targets[pair.Index].WrittenSpan));
        });
    }

    [Fact]
    public async Task Touching_refreshes()
    {
        var cache = new FaultyDistributedCache();
        await using var level = new LevelUnderTest(cache);

        Assert.Equal(LevelStatus.Done, await level.Level.TouchAsync("a", level.Hash("a"), new(long.MaxValue, 1000), CancellationToken.None));

        Assert.Contains(("refresh", ":k:a"), cache.Calls);
    }

    [Fact]
    public async Task The_first_use_of_a_key_or_tag_does_not_count_as_a_change_for_its_user()
    {
        await using var level = new LevelUnderTest(new FaultyDistributedCache());
        var mark = level.Level.Coherence.Mark(level.Hash("a"));
        var marks = level.Level.Coherence.MarkAll();

        await level.ReadAsync("a");
        await level.StampAsync("tag");

        Assert.True(level.Level.Coherence.IsUnchanged(mark, level.Hash("a")));
        Assert.True(level.Level.Coherence.IsUnchanged(marks, level.TagHash("tag")));
    }

    private static IDistributedCache Cache(string kind) =>
        kind == "memory" ? new MemoryDistributedCache(Options.Create(new MemoryDistributedCacheOptions())) : new FaultyDistributedCache();
}
