using System.Collections.Concurrent;
using System.Reflection;
using System.Text.Json;
using System.Text.RegularExpressions;
using Microsoft.Extensions.Caching.Distributed;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Options;
using ZiggyCreatures.Caching.Fusion;
using ZiggyCreatures.Caching.Fusion.Serialization;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>
/// The table for users of FusionCache in docs/how-to/migrate.md names members that exist, and the member on the right does what the one on the
/// left does.
/// </summary>
public sealed partial class SameAsFusionCacheTests
{
    private static readonly TimeSpan Brief = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan Long = TimeSpan.FromHours(1);
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(30);

    private static readonly Dictionary<string, (Func<FusionCache, Task<string?>> Theirs, Func<CairnHybridCache, Task<string?>> Ours, string Outcome)> Cases = new(StringComparer.Ordinal)
    {
        ["a value is made once"] = (
            async cache => $"{await cache.GetOrSetAsync("key", _ => Task.FromResult("one"))} {await cache.GetOrSetAsync("key", _ => Task.FromResult("two"))}",
            async cache => $"{await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("one"))} {await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("two"))}",
            "one one"),
        ["a missing value is reported, not made"] = (
            async cache =>
            {
                MaybeValue<string> missing = await cache.TryGetAsync<string>("key");
                await cache.SetAsync("key", "set");
                return $"{missing.HasValue} {(await cache.TryGetAsync<string>("key")).Value} {await cache.GetOrDefaultAsync<string>("key")}";
            },
            async cache =>
            {
                CacheResult<string> missing = await cache.GetAsync<string>("key");
                await cache.SetAsync("key", "set");
                return $"{missing.IsFound} {(await cache.GetAsync<string>("key")).Value} {(await cache.GetAsync<string>("key")).Value}";
            },
            "False set set"),
        ["a removed value is made again"] = (
            async cache =>
            {
                await cache.SetAsync("key", "old");
                await cache.RemoveAsync("key");
                return await cache.GetOrSetAsync("key", _ => Task.FromResult("new"));
            },
            async cache =>
            {
                await cache.SetAsync("key", "old");
                await cache.RemoveAsync("key");
                return await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"));
            },
            "new"),
        ["an expired value serves when the factory throws"] = (
            async cache =>
            {
                await cache.SetAsync("key", "old", FusionFailSafe());
                await cache.ExpireAsync("key");
                return await cache.GetOrSetAsync<string>("key", (_, _) => throw new IOException("away"), FusionFailSafe());
            },
            async cache =>
            {
                await cache.SetAsync("key", "old", FailSafe());
                await cache.ExpireAsync("key");
                return await cache.GetOrCreateAsync<string>("key", (_, _) => throw new IOException("away"), FailSafe());
            },
            "old"),
        ["without fail-safe the exception of the factory arrives"] = (
            async cache => await FaultOfAsync(() => cache.GetOrSetAsync<string>("key", _ => throw new IOException("away")).AsTask()),
            async cache => await FaultOfAsync(() => cache.GetOrCreateAsync<string>("key", _ => throw new IOException("away")).AsTask()),
            nameof(IOException)),
        ["a failure that the factory reports is a failure"] = (
            async cache =>
            {
                await cache.SetAsync("key", "old", FusionFailSafe());
                await cache.ExpireAsync("key");
                return await cache.GetOrSetAsync<string>("key", (context, _) => Task.FromResult(context.Fail("away")), FusionFailSafe());
            },
            async cache =>
            {
                await cache.SetAsync("key", "old", FailSafe());
                await cache.ExpireAsync("key");
                return await cache.GetOrCreateAsync<string>("key", (_, _) => throw new InvalidOperationException("away"), FailSafe());
            },
            "old"),
        ["a factory that fails can turn fail-safe off"] = (
            async cache =>
            {
                await cache.SetAsync("key", "old", FusionFailSafe());
                await cache.ExpireAsync("key");
                return await FaultOfAsync(() => cache.GetOrSetAsync<string>(
                    "key",
                    (context, _) =>
                    {
                        context.Options.SetFailSafe(isEnabled: false);
                        throw new IOException("away");
                    },
                    FusionFailSafe()).AsTask());
            },
            async cache =>
            {
                await cache.SetAsync("key", "old", FailSafe());
                await cache.ExpireAsync("key");
                return await FaultOfAsync(() => cache.GetOrCreateAsync<string>(
                    "key",
                    (context, _) =>
                    {
                        context.Options = context.Options with { FailSafe = TimeSpan.Zero };
                        throw new IOException("away");
                    },
                    FailSafe()).AsTask());
            },
            nameof(IOException)),
        ["an expired value serves after the soft time-out, and the factory ends in the background"] = (
            async cache =>
            {
                var go = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                FusionCacheEntryOptions options = FusionFailSafe().SetFactoryTimeouts(TimeSpan.FromMilliseconds(20));
                await cache.SetAsync("key", "old", options);
                await cache.ExpireAsync("key");
                string? served = await cache.GetOrSetAsync<string>("key", async (_, _) => await MadeAsync(go), options);
                go.SetResult();
                await Eventually.TrueAsync(() => cache.TryGet<string>("key").GetValueOrDefault("") == "new", "the factory");
                return served;
            },
            async cache =>
            {
                var go = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                CairnEntryOptions options = FailSafe() with { FactorySoftTimeout = TimeSpan.FromMilliseconds(20) };
                await cache.SetAsync("key", "old", options);
                await cache.ExpireAsync("key");
                string? served = await cache.GetOrCreateAsync<string>("key", async (_, _) => await MadeAsync(go), options);
                go.SetResult();
                await Eventually.TrueAsync(() => cache.TryGet("key", out string? value) && value == "new", "the factory");
                return served;
            },
            "old"),
        ["a factory beyond the hard time-out is an exception"] = (
            async cache =>
            {
                var go = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                var options = new FusionCacheEntryOptions(Long).SetFactoryTimeouts(softTimeout: null, TimeSpan.FromMilliseconds(20));
                string fault = await FaultOfAsync(() => cache.GetOrSetAsync<string>("key", async (_, _) => await MadeAsync(go), options).AsTask());
                go.SetResult();
                return fault.EndsWith("TimeoutException", StringComparison.Ordinal) ? "time-out" : fault;
            },
            async cache =>
            {
                var go = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                var options = new CairnEntryOptions { FactoryHardTimeout = TimeSpan.FromMilliseconds(20) };
                string fault = await FaultOfAsync(() => cache.GetOrCreateAsync<string>("key", async (_, _) => await MadeAsync(go), options).AsTask());
                go.SetResult();
                return fault.EndsWith("TimeoutException", StringComparison.Ordinal) ? "time-out" : fault;
            },
            "time-out"),
        ["the factory decides how long its value lives"] = (
            async cache =>
            {
                await cache.GetOrSetAsync<string>("key", (context, _) =>
                {
                    context.Options.Duration = TimeSpan.Zero;
                    return Task.FromResult("old");
                });
                return await cache.GetOrSetAsync<string>("key", _ => Task.FromResult("new"));
            },
            async cache =>
            {
                await cache.GetOrCreateAsync<string>("key", (context, _) =>
                {
                    context.Options = context.Options with { Expiration = TimeSpan.FromTicks(1) };
                    return new ValueTask<string>("old");
                });
                await Eventually.TrueAsync(() => !cache.TryGet<string>("key", out _), "the expiration");
                return await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"));
            },
            "new"),
        ["a value that has not changed at its origin is kept with its ETag"] = (
            async cache =>
            {
                FusionCacheEntryOptions options = FusionFailSafe();
                await cache.GetOrSetAsync<string>("key", (context, _) => Task.FromResult(context.Modified("value", etag: "v1")), options);
                await cache.ExpireAsync("key");
                string? seen = null;
                string? value = await cache.GetOrSetAsync<string>(
                    "key",
                    (context, _) =>
                    {
                        seen = $"{context.HasStaleValue} {context.ETag}";
                        return Task.FromResult(context.NotModified());
                    },
                    options);
                return $"{value} {seen}";
            },
            async cache =>
            {
                CairnEntryOptions options = FailSafe();
                await cache.GetOrCreateAsync<string>(
                    "key",
                    (context, _) =>
                    {
                        context.ETag = "v1";
                        return new ValueTask<string>("value");
                    },
                    options);
                await cache.ExpireAsync("key");
                string? seen = null;
                string value = await cache.GetOrCreateAsync<string>(
                    "key",
                    (context, _) =>
                    {
                        seen = $"{context.Stale.IsFound} {context.ETag}";
                        return new ValueTask<string>(context.NotModified());
                    },
                    options);
                return $"{value} {seen}";
            },
            "value True v1"),
        ["after a failure the expired value serves without another attempt"] = (
            async cache =>
            {
                int attempts = 0;
                FusionCacheEntryOptions options = FusionFailSafe().SetFailSafe(isEnabled: true, Long, throttleDuration: Long);
                await cache.SetAsync("key", "old", options);
                await cache.ExpireAsync("key");
                string? first = await cache.GetOrSetAsync<string>("key", (_, _) => Task.FromResult(Fail(ref attempts)), options);
                return $"{first} {await cache.GetOrSetAsync<string>("key", (_, _) => Task.FromResult(Fail(ref attempts)), options)} {attempts}";
            },
            async cache =>
            {
                int attempts = 0;
                CairnEntryOptions options = FailSafe() with { FailSafeThrottle = Long };
                await cache.SetAsync("key", "old", options);
                await cache.ExpireAsync("key");
                string first = await cache.GetOrCreateAsync<string>("key", (_, _) => new ValueTask<string>(Fail(ref attempts)), options);
                return $"{first} {await cache.GetOrCreateAsync<string>("key", (_, _) => new ValueTask<string>(Fail(ref attempts)), options)} {attempts}";
            },
            "old old 1"),
        ["a hit refreshes the value in the background after a part of its life"] = (
            async cache =>
            {
                var options = new FusionCacheEntryOptions(Long) { EagerRefreshThreshold = 1e-5f }; // 36 ms.
                await cache.SetAsync("key", "old", options);
                await Eventually.TrueAsync(async () => await cache.GetOrSetAsync("key", _ => Task.FromResult("new"), options) == "new", "the refresh");
                return (await cache.TryGetAsync<string>("key")).Value;
            },
            async cache =>
            {
                var options = new CairnEntryOptions { Expiration = Long, EagerRefreshThreshold = 1e-5 };
                await cache.SetAsync("key", "old", options);
                await Eventually.TrueAsync(async () => await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), options) == "new", "the refresh");
                return (await cache.GetAsync<string>("key")).Value;
            },
            "new"),
        ["a call can leave out the first level"] = (
            async cache =>
            {
                await cache.SetAsync("key", "set", new FusionCacheEntryOptions(Long).SetSkipMemoryCacheWrite());
                bool isWritten = (await cache.TryGetAsync<string>("key")).HasValue;
                await cache.SetAsync("key", "set");
                return $"{isWritten} {(await cache.TryGetAsync<string>("key", new FusionCacheEntryOptions(Long).SetSkipMemoryCacheRead())).HasValue}";
            },
            async cache =>
            {
                await cache.SetAsync("key", "set", new CairnEntryOptions { Flags = HybridCacheEntryFlags.DisableLocalCacheWrite });
                bool isWritten = (await cache.GetAsync<string>("key")).IsFound;
                await cache.SetAsync("key", "set");
                return $"{isWritten} {(await cache.GetAsync<string>("key", new CairnEntryOptions { Flags = HybridCacheEntryFlags.DisableLocalCacheRead })).IsFound}";
            },
            "False False"),
        ["a tag removes the values that carry it"] = (
            async cache =>
            {
                await cache.SetAsync("key", "old", tags: ["tag"]);
                await cache.SetAsync("other", "other");
                await cache.RemoveByTagAsync("tag");
                return $"{await cache.GetOrSetAsync("key", _ => Task.FromResult("new"))} {await cache.GetOrDefaultAsync<string>("other")}";
            },
            async cache =>
            {
                await cache.SetAsync("key", "old", (CairnEntryOptions?)null, ["tag"]);
                await cache.SetAsync("other", "other");
                await cache.RemoveByTagAsync("tag");
                return $"{await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"))} {(await cache.GetAsync<string>("other")).Value}";
            },
            "new other"),
        ["clearing removes everything"] = (
            async cache =>
            {
                await cache.SetAsync("key", "old");
                await cache.ClearAsync();
                return await cache.GetOrSetAsync("key", _ => Task.FromResult("new"));
            },
            async cache =>
            {
                await cache.SetAsync("key", "old");
                await cache.ClearAsync();
                return await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"));
            },
            "new"),
    };

    public static TheoryData<string> Names => [.. Cases.Keys];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task Outcome_is_the_same(string name)
    {
        using var theirs = new FusionCache(new FusionCacheOptions { DefaultEntryOptions = new FusionCacheEntryOptions(Long) });
        await using CairnHybridCache ours = CairnHybridCache.Create();

        Assert.Equal(Cases[name].Outcome, await Cases[name].Theirs(theirs));
        Assert.Equal(Cases[name].Outcome, await Cases[name].Ours(ours));
    }

    [Fact]
    public async Task Each_level_has_its_duration_and_only_here_jitter_reaches_the_second()
    {
        var theirLevel = new RecordingCache();
        using var theirs = new FusionCache(new FusionCacheOptions());
        theirs.SetupDistributedCache(theirLevel, new TextSerializer());
        var ourLevel = new RecordingCache();
        await using CairnHybridCache ours = CairnHybridCache.Create(new CairnHybridCacheOptions { DistributedCache = ourLevel });
        var theirOptions = new FusionCacheEntryOptions { MemoryCacheDuration = Brief, DistributedCacheDuration = Long, JitterMaxDuration = Long };
        var ourOptions = new CairnEntryOptions { LocalCacheExpiration = Brief, Expiration = Long, Jitter = Long };

        for (int i = 0; i < 20; i++)
        {
            await theirs.SetAsync($"key{i}", "value", theirOptions);
            await ours.SetAsync($"key{i}", "value", ourOptions);
        }

        Assert.All(theirLevel.Lives.Values, life => Assert.InRange(life, Long - LongestWait, Long));
        TimeSpan[] lives = [.. ourLevel.Lives.Where(life => life.Key.Contains("key", StringComparison.Ordinal)).Select(life => life.Value)];
        Assert.All(lives, life => Assert.InRange(life, Long - LongestWait, 2 * Long));
        Assert.True(lives.Distinct().Count() > 10, "The lives do not differ.");
        await Eventually.TrueAsync(async () => await IsReadAgainAsync(theirLevel, () => theirs.GetOrDefaultAsync<string>("key1").AsTask()), "the first level of FusionCache");
        await Eventually.TrueAsync(async () => await IsReadAgainAsync(ourLevel, async () => (await ours.GetAsync<string>("key1")).Value), "the first level");
    }

    [Fact]
    public async Task Mutable_value_is_a_copy_for_each_reader_without_an_option()
    {
        using var theirs = new FusionCache(new FusionCacheOptions());
        await using CairnHybridCache ours = CairnHybridCache.Create();
        List<int> value = [1];
        await theirs.SetAsync("key", value);
        await ours.SetAsync("key", value);

        Assert.Same(value, await theirs.GetOrDefaultAsync<List<int>>("key"));
        Assert.True(ours.TryGet("key", out List<int>? copy));
        Assert.Equal(value, copy);
        Assert.NotSame(value, copy);
    }

    [Theory]
    [InlineData("tag", "old")]
    [InlineData("clear", "old")]
    [InlineData("clear without fail-safe", "IOException")]
    public async Task Fail_safe_serves_no_value_that_was_removed_by_tag_and_with_FusionCache_it_does(string removal, string theirOutcome)
    {
        using var theirs = new FusionCache(new FusionCacheOptions());
        await using CairnHybridCache ours = CairnHybridCache.Create();
        await theirs.SetAsync("key", "old", FusionFailSafe(), tags: ["tag"]);
        await ours.SetAsync("key", "old", FailSafe(), tags: ["tag"]);
        await (removal switch
        {
            "tag" => theirs.RemoveByTagAsync("tag"),
            "clear" => theirs.ClearAsync(),
            _ => theirs.ClearAsync(allowFailSafe: false),
        });
        await (removal == "tag" ? ours.RemoveByTagAsync("tag") : ours.ClearAsync());

        Assert.Equal(theirOutcome, await FaultOfAsync(() => theirs.GetOrSetAsync<string>("key", (_, _) => throw new IOException("away"), FusionFailSafe()).AsTask()));
        Assert.Equal("IOException", await FaultOfAsync(() => ours.GetOrCreateAsync<string>("key", (_, _) => throw new IOException("away"), FailSafe()).AsTask()));
    }

    [Fact]
    public async Task Duration_of_zero_is_a_removal_with_FusionCache_and_an_error_here()
    {
        using var theirs = new FusionCache(new FusionCacheOptions());
        await using CairnHybridCache ours = CairnHybridCache.Create();
        await theirs.SetAsync("key", "old");
        await ours.SetAsync("key", "old");

        await theirs.SetAsync("key", "new", TimeSpan.Zero);
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () => await ours.SetAsync("key", "new", new CairnEntryOptions { Expiration = TimeSpan.Zero }));

        Assert.False((await theirs.TryGetAsync<string>("key")).HasValue);
        Assert.Equal("old", (await ours.GetAsync<string>("key")).Value);
    }

    // docs/compare/fusioncache.md says this.
    [Theory]
    [InlineData("remove", "old", null)]
    [InlineData("set", "old", "set")]
    [InlineData("expire", "old", null)]
    [InlineData("tag", null, null)]
    [InlineData("clear", null, null)]
    public async Task Change_while_the_factory_runs_wins_here_and_with_FusionCache_only_if_it_is_of_a_tag(string change, string? theirValue, string? ourValue)
    {
        using var theirs = new FusionCache(new FusionCacheOptions());
        await using CairnHybridCache ours = CairnHybridCache.Create();
        TaskCompletionSource started = new(), go = new(), startedHere = new(), goHere = new();

        Task<string> theirFactory = theirs.GetOrSetAsync<string>("key", (_, _) => OldAsync(started, go), tags: ["tag"]).AsTask();
        await started.Task.WaitAsync(LongestWait);
        await (change switch
        {
            "remove" => theirs.RemoveAsync("key"),
            "set" => theirs.SetAsync("key", "set"),
            "expire" => theirs.ExpireAsync("key"),
            "tag" => theirs.RemoveByTagAsync("tag"),
            _ => theirs.ClearAsync(),
        });
        go.SetResult();
        await theirFactory;

        Task<string> ourFactory = ours.GetOrCreateAsync("key", async _ => await OldAsync(startedHere, goHere), tags: ["tag"]).AsTask();
        await startedHere.Task.WaitAsync(LongestWait);
        await (change switch
        {
            "remove" => ours.RemoveAsync("key"),
            "set" => ours.SetAsync("key", "set"),
            "expire" => ours.ExpireAsync("key"),
            "tag" => ours.RemoveByTagAsync("tag"),
            _ => ours.ClearAsync(),
        });
        goHere.SetResult();
        await ourFactory;

        Assert.Equal(theirValue, (await theirs.TryGetAsync<string>("key")).GetValueOrDefault(null!));
        Assert.Equal(ourValue, (await ours.GetAsync<string>("key")).Value);
    }

    [Fact]
    public void Guide_names_members_that_exist()
    {
        string guide = File.ReadAllText(RepositoryFile.At("docs", "how-to", "migrate.md"));
        string section = guide[guide.IndexOf("## From FusionCache", StringComparison.Ordinal)..guide.IndexOf("## From IMemoryCache", StringComparison.Ordinal)];
        HashSet<string> theirs = MembersOf(typeof(IFusionCache).Assembly);
        HashSet<string> ours = MembersOf(typeof(CairnHybridCache).Assembly);
        string[][] rows = [.. section.Split('\n').Where(line => line.StartsWith("| `", StringComparison.Ordinal)).Select(line => line.Split('|'))];

        Assert.True(rows.Length > 15, "The table is not where the test looks for it.");
        Assert.All(rows, cells =>
        {
            Assert.Subset(theirs, NamesIn(cells[1]));
            Assert.Subset(ours, NamesIn(cells[2]));
        });
    }

    private static FusionCacheEntryOptions FusionFailSafe() => new FusionCacheEntryOptions(Long).SetFailSafe(isEnabled: true, Long);

    private static CairnEntryOptions FailSafe() => new() { Expiration = Long, FailSafe = Long };

    private static string Fail(ref int attempts)
    {
        attempts++;
        throw new IOException("away");
    }

    private static async Task<string> MadeAsync(TaskCompletionSource go)
    {
        await go.Task.WaitAsync(LongestWait);
        return "new";
    }

    private static async Task<string> OldAsync(TaskCompletionSource started, TaskCompletionSource go)
    {
        started.SetResult();
        await go.Task.WaitAsync(LongestWait);
        return "old";
    }

    private static async Task<string> FaultOfAsync(Func<Task<string>> call)
    {
        try
        {
            return await call();
        }
#pragma warning disable CA1031 // The test compares the exceptions.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            return fault.GetType().Name;
        }
    }

    private static HashSet<string> MembersOf(Assembly assembly) =>
    [
        nameof(HybridCache),
        .. assembly.GetExportedTypes().Select(type => type.Name.Split('`')[0]),
        .. assembly.GetExportedTypes().SelectMany(type => type.GetMembers(BindingFlags.Public | BindingFlags.Instance | BindingFlags.Static))
            .Select(member => member.Name),
    ];

    // The words in code that begin with a capital, as members do.
    private static HashSet<string> NamesIn(string cell) =>
        [.. Code().Matches(cell).SelectMany(code => Member().Matches(code.Value)).Select(match => match.Value)];

    private static async Task<bool> IsReadAgainAsync(RecordingCache level, Func<Task<string?>> read)
    {
        int before = level.Reads;
        return await read() == "value" && level.Reads > before;
    }

    [GeneratedRegex("`[^`]+`")]
    private static partial Regex Code();

    [GeneratedRegex(@"\b[A-Z]\w+(?=\b)")]
    private static partial Regex Member();

    // Records how long entries live, and counts reads.
    private sealed class RecordingCache : IDistributedCache
    {
        private readonly MemoryDistributedCache _inner = new(Options.Create(new MemoryDistributedCacheOptions()));
        private int _reads;

        public ConcurrentDictionary<string, TimeSpan> Lives { get; } = new(StringComparer.Ordinal);

        public int Reads => Volatile.Read(ref _reads);

        public byte[]? Get(string key)
        {
            Interlocked.Increment(ref _reads);
            return _inner.Get(key);
        }

        public Task<byte[]?> GetAsync(string key, CancellationToken token = default) => Task.FromResult(Get(key));

        public void Set(string key, byte[] value, DistributedCacheEntryOptions options)
        {
            Lives[key] = options.AbsoluteExpirationRelativeToNow ?? (options.AbsoluteExpiration!.Value - DateTimeOffset.UtcNow);
            _inner.Set(key, value, options);
        }

        public Task SetAsync(string key, byte[] value, DistributedCacheEntryOptions options, CancellationToken token = default)
        {
            Set(key, value, options);
            return Task.CompletedTask;
        }

        public void Refresh(string key) => _inner.Refresh(key);

        public Task RefreshAsync(string key, CancellationToken token = default) => _inner.RefreshAsync(key, token);

        public void Remove(string key) => _inner.Remove(key);

        public Task RemoveAsync(string key, CancellationToken token = default) => _inner.RemoveAsync(key, token);
    }

    private sealed class TextSerializer : IFusionCacheSerializer
    {
        public byte[] Serialize<T>(T? obj) => JsonSerializer.SerializeToUtf8Bytes(obj);

        public T? Deserialize<T>(byte[] data) => JsonSerializer.Deserialize<T>(data);

        public ValueTask<byte[]> SerializeAsync<T>(T? obj, CancellationToken token = default) => new(Serialize(obj));

        public ValueTask<T?> DeserializeAsync<T>(byte[] data, CancellationToken token = default) => new(Deserialize<T>(data));
    }
}
