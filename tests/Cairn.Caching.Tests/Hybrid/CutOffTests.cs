using Cairn.Caching.Tests.Levels;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>A cache that receives no changes from other machines serves no value older than the bound allows.</summary>
public sealed class CutOffTests : IAsyncLifetime
{
    private static readonly TimeSpan s_allowed = TimeSpan.FromSeconds(2);

    private readonly FakeServer _server = new() { ReportsChanges = true };
    private readonly ManualClock _clock = new(hasTimers: true);
    private readonly FakeMachine _machine;
    private readonly CairnHybridCache _cache;
    private readonly CairnHybridCache _other;
    private int _runs;

    public CutOffTests()
    {
        _machine = _server.Connect();
        FakeMachine other = _server.Connect();
        _cache = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = _machine, TimeProvider = _clock });
        _other = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = other, TimeProvider = _clock });
        _machine.Beat();
        other.Beat();
    }

    public async Task InitializeAsync()
    {
        // Moves to the next full second, so that no second is counted twice.
        _clock.Advance(TimeSpan.FromMilliseconds(1000 - _clock.GetUtcNow().Millisecond));
        Assert.Equal("old", await MakeAsync("old", "old"));
        _machine.Hears = false;
        _clock.Advance(s_allowed);
        _runs = 0;
    }

    public async Task DisposeAsync()
    {
        _machine.Works = true;
        await LevelUnderTest.AdvanceUntilAsync(_clock, () => _cache.LevelHealth.PendingChanges == 0);
        await _cache.DisposeAsync();
        await _other.DisposeAsync();
    }

    [Fact]
    public async Task Value_is_made_once_in_two_seconds_while_the_server_is_out_of_reach()
    {
        _machine.Works = false;
        Assert.Equal("1", await MakeAsync("key", "1"));

        _clock.Advance(s_allowed - TimeSpan.FromMilliseconds(1));
        Assert.Equal("1", await MakeAsync("key", "2"));
        Assert.True(_cache.TryGet("key", out string? found));
        Assert.Equal("1", found);
        Assert.True((await _cache.GetAsync<string>("key")).IsFound);
        Assert.Equal(1, _runs);

        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal("2", await MakeAsync("key", "2"));
        Assert.Equal(2, _runs);
    }

    [Fact]
    public async Task Value_with_a_tag_is_served_as_long_and_goes_at_once_when_the_tag_is_removed_here()
    {
        _machine.Works = false;
        Assert.Equal("1", await MakeAsync("key", "1", "tag"));
        Assert.Equal("1", await MakeAsync("key", "2", "tag"));

        await _cache.RemoveByTagAsync("tag");

        Assert.Equal("2", await MakeAsync("key", "2", "tag"));
    }

    [Fact]
    public async Task Value_with_a_tag_that_was_known_before_is_served_as_long()
    {
        _machine.Hears = true;
        _machine.Beat();
        await MakeAsync("other", "0", "tag");
        _machine.Hears = false;
        _clock.Advance(s_allowed);
        _machine.Works = false;

        Assert.Equal("1", await MakeAsync("key", "1", "tag"));
        Assert.Equal("1", await MakeAsync("key", "2", "tag"));

        await _cache.RemoveByTagAsync("tag");
        Assert.Equal("3", await MakeAsync("key", "3", "tag"));
    }

    [Fact]
    public async Task Value_that_was_set_here_is_served_as_long_and_goes_at_once_when_it_is_removed_here()
    {
        _machine.Works = false;
        await _cache.SetAsync("key", "1");
        Assert.Equal("1", await MakeAsync("key", "2"));

        await _cache.RemoveAsync("key");

        Assert.Equal("2", await MakeAsync("key", "2"));
    }

    [Fact]
    public async Task Change_of_others_without_a_message_is_seen_after_two_seconds_while_the_server_can_be_reached()
    {
        Assert.Equal("1", await MakeAsync("key", "1"));
        await _other.SetAsync("key", "2");
        Assert.Equal("1", await MakeAsync("key", "3"));

        _clock.Advance(s_allowed);

        Assert.Equal("2", await MakeAsync("key", "3"));
        Assert.Equal(1, _runs);
    }

    [Fact]
    public async Task Result_of_a_factory_that_began_too_long_ago_is_not_for_later_callers()
    {
        _machine.Works = false;
        var first = new HeldFactory<string>();
        Task<string> older = _cache.GetOrCreateAsync("key", first.RunAsync).AsTask();
        await first.StartedAsync();
        Task<string> joined = _cache.GetOrCreateAsync("key", _ => ValueTask.FromResult("not made")).AsTask();
        _clock.Advance(s_allowed);

        Task<string> later = MakeAsync("key", "newer").AsTask();

        first.Return("older");
        Assert.Equal("older", await older);
        Assert.Equal("older", await joined);
        Assert.Equal("newer", await later);
    }

    [Fact]
    public async Task Value_from_before_is_asked_for_again()
    {
        await _other.SetAsync("old", "new");

        Assert.Equal("new", await MakeAsync("old", "made"));
    }

    private ValueTask<string> MakeAsync(string key, string value, params string[] tags) => _cache.GetOrCreateAsync(
        key,
        _ =>
        {
            _runs++;
            return ValueTask.FromResult(value);
        },
        tags: tags);
}
