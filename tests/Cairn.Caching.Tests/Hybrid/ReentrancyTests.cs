#pragma warning disable CA2016, VSTHRD003 // The factories here ignore their token, and wait for tasks that the test completes.
using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>Factories that use the cache themselves.</summary>
public sealed class ReentrancyTests
{
    public static TheoryData<string> Sound => CachesUnderTest.Sound;

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Factory_may_ask_for_other_keys(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();

        string page = await cache.GetOrCreateAsync("page", async _ =>
            "page of " + await cache.GetOrCreateAsync("book", async _ =>
                "book by " + await cache.GetOrCreateAsync("author", _ => new ValueTask<string>("author"))));

        Assert.Equal("page of book by author", page);
        Assert.Equal("book by author", (await cache.GetAsync<string>("book")).Value);
    }

    [Theory]
    [InlineData("directly")]
    [InlineData("through another method")]
    [InlineData("on another thread")]
    [InlineData("through another key")]
    [InlineData("with other options")]
    [InlineData("as another type")]
    [InlineData("after removing it")]
    public async Task Factory_that_asks_for_its_own_key_in_any_way_is_refused(string way)
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.Store);
        CairnHybridCache cache = caches.Add();

        InvalidOperationException refusal = await Assert.ThrowsAsync<InvalidOperationException>(
            async () => await cache.GetOrCreateAsync("key", async _ => way switch
            {
                "directly" => await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("inner")),
                "through another method" => await AskAsync(),
                "on another thread" => await Task.Run(() => AskAsync()),
                "through another key" => await cache.GetOrCreateAsync("other", async _ => await AskAsync()),
                "with other options" => await cache.GetOrCreateAsync(
                    "key", _ => new ValueTask<string>("inner"), new CairnEntryOptions { Flags = Microsoft.Extensions.Caching.Hybrid.HybridCacheEntryFlags.DisableLocalCacheRead }),
                "as another type" => (await cache.GetOrCreateAsync("key", _ => new ValueTask<int>(7))).ToString(System.Globalization.CultureInfo.InvariantCulture),
                _ => await RemoveAndAskAsync(),
            }));

        Assert.Contains("'key'", refusal.Message, StringComparison.Ordinal);

        async Task<string> AskAsync()
        {
            await Task.Yield();
            return await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("inner"));
        }

        async Task<string> RemoveAndAskAsync()
        {
            await cache.RemoveAsync("key");
            return await AskAsync();
        }
    }

    [Fact]
    public async Task Factory_may_look_at_its_own_key_without_making_it()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.Store);
        CairnHybridCache cache = caches.Add();

        bool isFound = await cache.GetOrCreateAsync("key", async _ => (await cache.GetAsync<bool>("key")).IsFound);

        Assert.False(isFound);
    }

    [RunsOverMicrosofts]
    [Fact]
    public async Task Task_that_a_factory_left_running_may_request_its_key_after_the_factory_has_ended()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.None);
        HybridCache cache = caches.AddHybrid();
        var hasEnded = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Task<string>? left = null;

        await cache.GetOrCreateAsync("key", _ =>
        {
            left = Task.Run(async () =>
            {
                await hasEnded.Task;
                await cache.RemoveAsync("key");
                return await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("later"));
            });
            return new ValueTask<string>("first");
        });
        hasEnded.SetResult();

        Assert.Equal("later", await left!);
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Two_factories_that_request_each_others_key_do_not_block_each_other(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache cache = caches.AddHybrid();
        var a = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var b = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

        Task<string> first = cache.GetOrCreateAsync("a", async _ =>
        {
            a.SetResult();
            await b.Task;
            return await cache.GetOrCreateAsync("b", _ => new ValueTask<string>("b"));
        }).AsTask();
        Task<string> second = cache.GetOrCreateAsync("b", async _ =>
        {
            b.SetResult();
            await a.Task;
            return await cache.GetOrCreateAsync("a", _ => new ValueTask<string>("a"));
        }).AsTask();

        await Task.WhenAny(Task.WhenAll(first, second), Task.Delay(TimeSpan.FromSeconds(30))); // Only a test that has failed waits as long.
        InvalidOperationException refusal = Assert.IsType<InvalidOperationException>(first.Exception?.InnerException);
        Assert.True(second.IsFaulted);
        Assert.Contains("'a'", refusal.Message, StringComparison.Ordinal);
        Assert.Contains("'b'", refusal.Message, StringComparison.Ordinal);
        Assert.Equal("later", await cache.GetOrCreateAsync("a", _ => new ValueTask<string>("later")));
    }

    [RunsOverMicrosofts]
    [Fact]
    public async Task Circle_of_three_through_inner_factories_is_found()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.None);
        HybridCache cache = caches.AddHybrid();
        HybridCache other = caches.AddHybrid();
        string[] keys = ["a", "b", "c"];
        using var all = new CountdownEvent(3);
        var allRun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

        Task<string>[] circle =
        [
            .. Enumerable.Range(0, 3).Select(i => cache.GetOrCreateAsync(keys[i], async _ =>
            {
                if (all.Signal())
                {
                    allRun.SetResult();
                }

                await allRun.Task;
                return await other.GetOrCreateAsync(
                    "inner " + keys[i], async _ => await cache.GetOrCreateAsync(keys[(i + 1) % 3], _ => new ValueTask<string>("value")));
            }).AsTask()),
        ];

        await Task.WhenAny(Task.WhenAll(circle), Task.Delay(TimeSpan.FromSeconds(30))); // Only a test that has failed waits as long.
        Assert.All(circle, task => Assert.IsType<InvalidOperationException>(task.Exception?.InnerException));
    }

    [RunsOverMicrosofts]
    [Fact]
    public async Task Factories_that_wait_for_the_same_key_are_no_circle()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.None);
        HybridCache cache = caches.AddHybrid();
        var shared = new HeldFactory<string>();

        Task<string>[] pages =
        [
            .. Enumerable.Range(0, 10).Select(i => cache.GetOrCreateAsync(
                $"page {i}", async _ => $"{i} " + await cache.GetOrCreateAsync("shared", token => shared.RunAsync(token))).AsTask()),
        ];
        await shared.StartedAsync();
        shared.Return("value");

        Assert.Equal(Enumerable.Range(0, 10).Select(i => $"{i} value"), await Task.WhenAll(pages));
        Assert.Equal(1, shared.Runs);
    }
}
