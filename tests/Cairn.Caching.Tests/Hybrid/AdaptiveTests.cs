using Cairn.Caching.Tests.Levels;
using Microsoft.Extensions.Primitives;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>Factories that decide how their value is cached.</summary>
public sealed class AdaptiveTests
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    public static TheoryData<string> Sound => CachesUnderTest.Sound;

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Factory_decides_the_expiration(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        int runs = 0;
        ValueTask<string> ReadAsync() => cache.GetOrCreateAsync<string>("key", (context, _) =>
        {
            context.Options = context.Options with { Expiration = Minute };
            return new ValueTask<string>($"run {++runs}");
        });

        await ReadAsync();
        caches.Clock.Advance(Minute - TimeSpan.FromMilliseconds(1));
        Assert.Equal("run 1", await ReadAsync());
        caches.Clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal("run 2", await ReadAsync());
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Factory_that_fails_decides_whether_an_expired_value_is_served(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var safe = new CairnEntryOptions { Expiration = Minute, FailSafe = 10 * Minute, FailSafeThrottle = TimeSpan.Zero };
        ValueTask<string> FailAsync(TimeSpan failSafe, CairnEntryOptions options) => cache.GetOrCreateAsync<string>(
            "key",
            (context, _) =>
            {
                context.Options = context.Options with { FailSafe = failSafe };
                throw new FormatException("no longer there");
            },
            options);
        await cache.SetAsync("key", "old", safe);
        caches.Clock.Advance(Minute);

        await Assert.ThrowsAsync<FormatException>(async () => await FailAsync(TimeSpan.Zero, safe));
        Assert.Equal("old", await FailAsync(Minute, safe with { FailSafe = TimeSpan.Zero }));
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Factory_names_tags_that_remove_its_value(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        int runs = 0;
        ValueTask<string> ReadAsync() => cache.GetOrCreateAsync<string>(
            "key",
            (context, _) =>
            {
                context.AddTag("late");
                return new ValueTask<string>($"run {++runs}");
            },
            tags: ["early"]);

        Assert.Equal(["run 1", "run 1"], new[] { await ReadAsync(), await ReadAsync() });
        await cache.RemoveByTagAsync("late");
        Assert.Equal(["run 2", "run 2"], new[] { await ReadAsync(), await ReadAsync() });
        await cache.RemoveByTagAsync("early");
        Assert.Equal(["run 3", "run 3"], new[] { await ReadAsync(), await ReadAsync() });
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Tag_that_a_factory_names_counts_from_the_factorys_begin(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        CairnHybridCache remover = level == CachesUnderTest.None ? cache : caches.Add();
        var held = new HeldFactory<string>();

        Task<string> read = cache.GetOrCreateAsync<string>("key", (context, token) =>
        {
            context.AddTag("late");
            return held.RunAsync(token);
        }).AsTask();
        await held.StartedAsync();
        await remover.RemoveByTagAsync("late");
        held.Return("old");

        Assert.Equal("old", await read);
        Assert.False((await cache.GetAsync<string>("key")).IsFound);
        await remover.RemoveByTagAsync("late");
        Assert.False(cache.TryGet("key", out string? _));
        Assert.False((await cache.GetAsync<string>("key")).IsFound);
        Assert.False((await remover.GetAsync<string>("key")).IsFound);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Factory_decides_that_nothing_is_cached(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        int runs = 0;
        ValueTask<string?> ReadAsync(bool isNull) => cache.GetOrCreateAsync<string?>("key", (context, _) =>
        {
            runs++;
            if (isNull)
            {
                context.Options = context.Options with { CacheNull = false };
                return new ValueTask<string?>((string?)null);
            }

            context.DoNotCache();
            return new ValueTask<string?>($"run {runs}");
        });

        Assert.Equal("run 1", await ReadAsync(isNull: false));
        Assert.Equal("run 2", await ReadAsync(isNull: false));
        Assert.Null(await ReadAsync(isNull: true));
        Assert.Null(await ReadAsync(isNull: true));
        Assert.Equal(4, runs);
        Assert.False((await cache.GetAsync<string>("key")).IsFound);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Conditional_refresh_is_given_the_validators_and_the_expired_value(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var options = new CairnEntryOptions { Expiration = Minute, FailSafe = 60 * Minute };
        DateTimeOffset modified = caches.Clock.Now;
        List<(string? ETag, DateTimeOffset? Modified, string? Stale)> seen = [];
        ValueTask<string> ReadAsync(bool isModified) => cache.GetOrCreateAsync<string>(
            "key",
            (context, _) =>
            {
                seen.Add((context.ETag, context.LastModified, context.Stale.Value));
                if (context.Stale.IsFound && !isModified)
                {
                    return new ValueTask<string>(context.NotModified());
                }

                context.ETag = $"\"{seen.Count}\"";
                context.LastModified = modified;
                return new ValueTask<string>($"value {seen.Count}");
            },
            options);

        string first = await ReadAsync(isModified: true);
        caches.Clock.Advance(Minute);
        string second = await ReadAsync(isModified: false);
        string hit = await ReadAsync(isModified: true);
        caches.Clock.Advance(Minute);
        string third = await ReadAsync(isModified: false);
        caches.Clock.Advance(Minute);
        string fourth = await ReadAsync(isModified: true);

        Assert.Equal(["value 1", "value 1", "value 1", "value 1", "value 4"], new[] { first, second, hit, third, fourth });
        Assert.Equal((null, null, null), seen[0]);
        Assert.All(seen[1..], look => Assert.Equal(("\"1\"", modified, "value 1"), look));
    }

    [Fact]
    public async Task Nothing_can_be_unmodified_that_is_not_there()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.None);
        CairnHybridCache cache = caches.Add();

        InvalidOperationException refusal = await Assert.ThrowsAsync<InvalidOperationException>(
            async () => await cache.GetOrCreateAsync<string>("key", (context, _) => new ValueTask<string>(context.NotModified())));

        Assert.Contains("'key'", refusal.Message, StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Change_token_removes_the_entry_from_every_level_and_node(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        CairnHybridCache other = level == CachesUnderTest.None ? cache : caches.Add();
        using var source = new CancellationTokenSource();
        var options = new CairnEntryOptions { ChangeTokens = [new CancellationChangeToken(source.Token)] };
        using var laterSource = new CancellationTokenSource();

        await cache.GetOrCreateAsync("by options", _ => new ValueTask<string>("old"), options);
        await cache.SetAsync("by set", "old", options);
        await cache.GetOrCreateAsync<string>("by factory", (context, _) =>
        {
            context.AddDependency(new CancellationChangeToken(source.Token));
            context.AddDependency(new CancellationChangeToken(laterSource.Token));
            return new ValueTask<string>("old");
        });
        string[] keys = ["by options", "by set", "by factory"];
        foreach (string key in keys)
        {
            Assert.True((await other.GetAsync<string>(key)).IsFound, key);
        }

        await source.CancelAsync();

        foreach (string key in keys)
        {
            await LevelUnderTest.UntilAsync(() => !other.TryGet(key, out string? _));
            Assert.False((await other.GetAsync<string>(key)).IsFound, key);
            Assert.False((await cache.GetAsync<string>(key)).IsFound, key);
        }

        await cache.SetAsync("by set", "new");
        await laterSource.CancelAsync();
        Assert.Equal("new", (await cache.GetAsync<string>("by set")).Value);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Token_that_has_to_be_asked_is_asked_every_second(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var token = new AskedToken();
        await cache.SetAsync("key", "value", new CairnEntryOptions { ChangeTokens = [token] });

        caches.Clock.Advance(TimeSpan.FromSeconds(5));
        Assert.True(cache.TryGet("key", out string? _));
        token.HasChanged = true;
        caches.Clock.Advance(TimeSpan.FromSeconds(1));

        await LevelUnderTest.UntilAsync(() => !cache.TryGet("key", out string? _));
        Assert.False((await cache.GetAsync<string>("key")).IsFound);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Token_that_changed_while_the_factory_ran_leaves_no_entry(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        using var source = new CancellationTokenSource();
        var asked = new AskedToken();

        await cache.GetOrCreateAsync<string>("called", async (context, _) =>
        {
            context.AddDependency(new CancellationChangeToken(source.Token));
            await source.CancelAsync();
            return "old";
        });
        await cache.GetOrCreateAsync<string>("asked", (context, _) =>
        {
            context.AddDependency(asked);
            asked.HasChanged = true;
            return new ValueTask<string>("old");
        });

        await LevelUnderTest.UntilAsync(() => !cache.TryGet("called", out string? _) && !cache.TryGet("asked", out string? _));
        Assert.False((await cache.GetAsync<string>("called")).IsFound);
        Assert.False((await cache.GetAsync<string>("asked")).IsFound);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Topic_removes_what_depends_on_it_and_is_no_tag_of_that_name(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        CairnHybridCache other = level == CachesUnderTest.None ? cache : caches.Add();
        await cache.SetAsync("topic", "value", new CairnEntryOptions { Topics = ["books"] });
        await cache.SetAsync("tag", "value", tags: ["books"]);
        await cache.GetOrCreateAsync<string>("late", (context, _) =>
        {
            context.Options = context.Options with { Topics = ["books"] };
            return new ValueTask<string>("value");
        });
        Assert.True((await other.GetAsync<string>("topic")).IsFound && (await other.GetAsync<string>("late")).IsFound);

        await other.RaiseTopicAsync("books");

        Assert.False((await cache.GetAsync<string>("topic")).IsFound);
        Assert.False((await cache.GetAsync<string>("late")).IsFound);
        Assert.True((await cache.GetAsync<string>("tag")).IsFound);
        await Assert.ThrowsAsync<ArgumentException>(async () => await cache.RaiseTopicAsync(""));
    }

    // Like the token of a file on a share: it has a state but makes no callbacks.
    private sealed class AskedToken : IChangeToken
    {
        public bool HasChanged { get; set; }

        public bool ActiveChangeCallbacks => false;

        public IDisposable RegisterChangeCallback(Action<object?> callback, object? state) => throw new NotSupportedException("It does not call.");
    }
}
