using Cairn.Caching.Tests.Levels;
using Microsoft.Extensions.Caching.Distributed;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>
/// Removals by tag on another machine, over an IDistributedCache that reports no changes. Each machine has an object of its own for the same
/// entries, as it would have for a database.
/// </summary>
public sealed class TagLifetimeTests : IAsyncDisposable
{
    private static readonly TimeSpan s_lifetime = TimeSpan.FromSeconds(10);

    private readonly ManualClock _clock = new(hasTimers: true);
    private readonly FaultyDistributedCache _here = new();
    private readonly CairnHybridCache _cache;
    private readonly CairnHybridCache _other;

    public TagLifetimeTests()
    {
        _cache = Create(_here);
        _other = Create(new FaultyDistributedCache { Content = _here.Content });
    }

    public async ValueTask DisposeAsync()
    {
        await _cache.DisposeAsync();
        await _other.DisposeAsync();
    }

    [Fact]
    public async Task Removal_by_tag_on_another_machine_is_seen_within_the_lifetime_of_tags()
    {
        Assert.Equal("old", await GetAsync(_cache, "old"));
        await _other.RemoveByTagAsync("tag");

        _clock.Advance(s_lifetime - TimeSpan.FromMilliseconds(1));
        Assert.Equal("old", await GetAsync(_cache, "new"));

        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.False(_cache.TryGet("key", out string? _));
        Assert.Equal("new", await GetAsync(_cache, "new"));
        Assert.Equal("new", await GetAsync(_other, "other"));
    }

    [Fact]
    public async Task Tag_that_was_not_removed_costs_one_read_in_its_lifetime_and_keeps_its_entries()
    {
        await GetAsync(_cache, "old");
        await GetAsync(_cache, "old", "key2");
        int before = ReadsOfTags;

        _clock.Advance(s_lifetime);
        for (int i = 0; i < 100; i++)
        {
            Assert.Equal("old", await GetAsync(_cache, "new"));
            Assert.Equal("old", await GetAsync(_cache, "new", "key2"));
        }

        Assert.Equal(before + 1, ReadsOfTags);
    }

    [Fact]
    public async Task Second_level_that_does_not_answer_costs_no_entries_and_is_asked_once_in_the_lifetime()
    {
        await GetAsync(_cache, "old");
        _here.Script = static (_, _) => Fault.Throw;

        for (int i = 0; i < 3; i++)
        {
            int before = ReadsOfTags;
            _clock.Advance(s_lifetime);
            Assert.Equal("old", await GetAsync(_cache, "new"));
            Assert.Equal("old", await GetAsync(_cache, "new"));
            Assert.InRange(ReadsOfTags - before, 0, 1); // 0 while the circuit breaker is open.
        }

        await _other.RemoveByTagAsync("tag");
        _here.Script = static (_, _) => Fault.None;
        _clock.Advance(TimeSpan.FromMinutes(2));
        Assert.Equal("new", await GetAsync(_cache, "new"));
    }

    [Fact]
    public async Task Removal_by_tag_on_this_machine_is_seen_at_once()
    {
        await GetAsync(_cache, "old");

        await _cache.RemoveByTagAsync("tag");

        Assert.Equal("new", await GetAsync(_cache, "new"));
    }

    private int ReadsOfTags => _here.Calls.Count(static call => call.Operation == "get" && call.Key.Contains(":t:", StringComparison.Ordinal));

    private static ValueTask<string> GetAsync(CairnHybridCache cache, string made, string key = "key") =>
        cache.GetOrCreateAsync(key, _ => new ValueTask<string>(made), new CairnEntryOptions { Expiration = TimeSpan.FromHours(1) }, tags: ["tag"]);

    private CairnHybridCache Create(IDistributedCache second) => CairnHybridCache.Create(new CairnHybridCacheOptions
    {
        DistributedCache = second,
        DistributedTagLifetime = s_lifetime,
        TimeProvider = _clock,
    });
}
