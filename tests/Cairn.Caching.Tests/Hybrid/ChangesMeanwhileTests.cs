using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Tests.Hybrid;

#pragma warning disable VSTHRD003 // The tests complete the sources that their own factories wait for; no other work waits for the tests' thread.

/// <summary>A caller that comes after a change gets no older value, even if a read or a factory was in progress during the change.</summary>
public sealed class ChangesMeanwhileTests : IDisposable
{
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(30);

    private readonly StoreDirectory _directory = new();
    private readonly ManualClock _clock = new();
    private readonly List<CairnHybridCache> _caches = [];

    public static TheoryData<string> Levels => ["none", "store"];

    [Theory]
    [MemberData(nameof(Levels))]
    public async Task Value_of_another_type_is_replaced(string level)
    {
        CairnHybridCache cache = Open(level);
        await cache.SetAsync("key", "text");

        int number = await cache.GetOrCreateAsync("key", _ => new ValueTask<int>(7)).AsTask().WaitAsync(LongestWait);

        Assert.Equal(7, number);
        Assert.Equal(7, (await cache.GetAsync<int>("key")).Value);
    }

    [Theory]
    [MemberData(nameof(Levels))]
    public async Task Factory_that_began_before_its_tag_was_removed_is_not_waited_for(string level)
    {
        CairnHybridCache cache = Open(level);
        var old = new TaskCompletionSource<string>();
        Task<string> first = cache.GetOrCreateAsync("key", async _ => await old.Task, tags: ["tag"]).AsTask();
        await cache.RemoveByTagAsync("tag");

        Task<string> second = cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), tags: ["tag"]).AsTask();
        old.SetResult("old");

        Assert.Equal("old", await first.WaitAsync(LongestWait));
        Assert.Equal("new", await second.WaitAsync(LongestWait));
    }

    [Theory]
    [MemberData(nameof(Levels))]
    public async Task Factory_that_names_its_tag_at_its_end_is_not_waited_for_if_the_tag_was_removed(string level)
    {
        CairnHybridCache cache = Open(level);
        var old = new TaskCompletionSource<string>();
        Task<string> first = cache.GetOrCreateAsync<string>("key", async (context, _) => await TagAsync(context, old.Task)).AsTask();
        await cache.RemoveByTagAsync("tag");

        Task<string> second = cache.GetOrCreateAsync<string>("key", async (context, _) => await TagAsync(context, Task.FromResult("new"))).AsTask();
        old.SetResult("old");

        Assert.Equal("old", await first.WaitAsync(LongestWait));
        Assert.Equal("new", await second.WaitAsync(LongestWait));
    }

    [Theory]
    [MemberData(nameof(Levels))]
    public async Task Value_whose_tag_was_removed_before_it_was_named_stays_gone(string level)
    {
        CairnHybridCache cache = Open(level);
        var old = new TaskCompletionSource<string>();
        Task<string> first = cache.GetOrCreateAsync<string>("key", async (context, _) => await TagAsync(context, old.Task)).AsTask();
        await cache.RemoveByTagAsync("tag");
        old.SetResult("old");
        await first.WaitAsync(LongestWait);

        await cache.RemoveByTagAsync("tag");

        Assert.False((await cache.GetAsync<string>("key")).IsFound);
    }

    [Fact]
    public async Task Factory_that_began_before_another_process_removed_its_key_is_not_joined_by_a_caller_that_bypasses_the_first_level()
    {
        var past = new CairnEntryOptions { Flags = HybridCacheEntryFlags.DisableLocalCacheRead };
        CairnHybridCache cache = Open("store");
        CairnHybridCache other = Open("store");
        var old = new TaskCompletionSource<string>();
        Task<string> first = cache.GetOrCreateAsync("key", async _ => await old.Task, past).AsTask();
        await other.RemoveAsync("key");

        Task<string> second = cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), past).AsTask();
        old.SetResult("old");

        Assert.Equal("old", await first.WaitAsync(LongestWait));
        Assert.Equal("new", await second.WaitAsync(LongestWait));
    }

    [Fact]
    public async Task Value_whose_tag_was_removed_is_made_once_for_all()
    {
        CairnHybridCache cache = Open("store");
        CairnHybridCache other = Open("store");
        await cache.SetAsync("key", "old", tags: ["tag"]);
        await other.RemoveByTagAsync("tag");

        string made = await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), tags: ["tag"]);
        string found = await other.GetOrCreateAsync("key", _ => new ValueTask<string>("made twice"), tags: ["tag"]);

        Assert.Equal("new", made);
        Assert.Equal("new", found);
    }

    [Fact]
    public async Task Expired_value_that_another_removed_is_not_served_when_the_factory_fails()
    {
        var options = new CairnEntryOptions { Expiration = TimeSpan.FromMinutes(1), FailSafe = TimeSpan.FromHours(1) };
        CairnHybridCache cache = Open("store");
        CairnHybridCache other = Open("store");
        await cache.SetAsync("key", "old", options);
        _clock.Advance(TimeSpan.FromMinutes(2));
        var source = new TaskCompletionSource<string>();
        Task<string> first = cache.GetOrCreateAsync("key", async _ => await source.Task, options).AsTask();
        await other.RemoveAsync("key");

        source.SetException(new TimeoutException());

        await Assert.ThrowsAsync<TimeoutException>(() => first.WaitAsync(LongestWait));
        Assert.False((await cache.GetAsync<string>("key", allowStale: true)).IsFound);
    }

    [Fact]
    public async Task Expired_value_whose_tag_was_removed_is_not_served_when_the_factory_is_slow()
    {
        var options = new CairnEntryOptions
        {
            Expiration = TimeSpan.FromMinutes(1),
            FailSafe = TimeSpan.FromHours(1),
            FactorySoftTimeout = TimeSpan.Zero,
        };
        CairnHybridCache cache = Open("none");
        await cache.SetAsync("key", "old", options, ["tag"]);
        _clock.Advance(TimeSpan.FromMinutes(2));
        var source = new TaskCompletionSource<string>();
        var started = new TaskCompletionSource();
        string served = await cache.GetOrCreateAsync(
            "key",
            async _ =>
            {
                started.SetResult();
                return await source.Task;
            },
            options,
            ["tag"]);
        await started.Task.WaitAsync(LongestWait);
        await cache.RemoveByTagAsync("tag");

        Task<string> second = cache.GetOrCreateAsync("key", _ => new ValueTask<string>("new"), options, ["tag"]).AsTask();
        source.SetResult("older");

        Assert.Equal("old", served);
        Assert.Equal("new", await second.WaitAsync(LongestWait));
    }

    public void Dispose()
    {
        _caches.ForEach(cache => cache.Dispose());
        _directory.Dispose();
    }

    private static async Task<string> TagAsync(CacheFactoryContext<string> context, Task<string> source)
    {
        string value = await source;
        context.AddTag("tag");
        return value;
    }

    private CairnHybridCache Open(string level)
    {
        var options = new CairnHybridCacheOptions { TimeProvider = _clock };
        if (level == "store")
        {
            options.UseStoreFile(_directory.FilePath, file =>
            {
                file.CapacityBytes = StoreDirectory.SmallCapacityBytes;
                file.FlushOnClose = false;
                file.TimeProvider = _clock;
            });
        }

        var cache = CairnHybridCache.Create(options);
        _caches.Add(cache);
        return cache;
    }
}
