using Microsoft.Extensions.Caching.Hybrid;

namespace Cairn.Caching.Tests.Hybrid;

/// <summary>Factories that fail, and callers that do not wait for them.</summary>
public sealed class FactoryTests
{
    public static TheoryData<string> Sound => CachesUnderTest.Sound;

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Factory_that_throws_fails_the_task_and_leaves_nothing(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();

        ValueTask<string> synchronous = cache.GetOrCreateAsync<string>("key", _ => throw new FormatException("now"));
        ValueTask<string> failed = cache.GetOrCreateAsync("key", _ => ValueTask.FromException<string>(new FormatException("at once")));
        ValueTask<string> later = cache.GetOrCreateAsync("key", FailLaterAsync);

        Assert.Equal("now", (await Assert.ThrowsAsync<FormatException>(async () => await synchronous)).Message);
        Assert.Equal("at once", (await Assert.ThrowsAsync<FormatException>(async () => await failed)).Message);
        Assert.Equal("later", (await Assert.ThrowsAsync<FormatException>(async () => await later)).Message);
        Assert.Equal("value", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("value")));
        Assert.Equal(3, cache.GetStatistics().FactoryFaults);

        static async ValueTask<string> FailLaterAsync(CancellationToken token)
        {
            await Task.Yield();
            throw new FormatException("later");
        }
    }

    [RunsOverMicrosofts]
    [Theory]
    [MemberData(nameof(Sound))]
    public async Task All_waiting_callers_get_the_exception_of_the_factory(string level)
    {
        await using var caches = new CachesUnderTest(level);
        HybridCache cache = caches.AddHybrid();
        var factory = new HeldFactory<string>();

        Task<string>[] waiting = [.. Enumerable.Range(0, 5).Select(_ => cache.GetOrCreateAsync("key", token => factory.RunAsync(token)).AsTask())];
        await factory.StartedAsync();
        factory.Throw(new FormatException("no"));
        await Task.WhenAny(Task.WhenAll(waiting));

        Assert.All(waiting, task => Assert.IsType<FormatException>(task.Exception?.InnerException));
        Assert.Equal(1, factory.Runs);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Factory_is_cancelled_when_all_waiting_callers_have_cancelled_and_the_next_caller_runs_its_own(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add();
        var factory = new HeldFactory<string>();
        using var first = new CancellationTokenSource();
        using var second = new CancellationTokenSource();

        Task<string> a = cache.GetOrCreateAsync("key", token => factory.RunAsync(token), cancellationToken: first.Token).AsTask();
        Task<string> b = cache.GetOrCreateAsync("key", token => factory.RunAsync(token), cancellationToken: second.Token).AsTask();
        await factory.StartedAsync();
        await first.CancelAsync();
        await Task.WhenAny(a);
        Assert.False(factory.Token.IsCancellationRequested);
        await second.CancelAsync();
        await Task.WhenAny(b);

        Assert.True(a.IsCanceled && b.IsCanceled);
        Assert.True(factory.Token.IsCancellationRequested);
        Assert.Equal("next", await cache.GetOrCreateAsync("key", _ => new ValueTask<string>("next")));
        Assert.Equal(0, cache.GetStatistics().FactoryFaults);
    }

    [RunsOverMicrosofts]
    [Fact]
    public async Task Token_that_is_cancelled_before_runs_no_factory_but_has_what_is_there()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.None);
        HybridCache cache = caches.AddHybrid();
        await cache.SetAsync("there", "value");
        var cancelled = new CancellationToken(canceled: true);
        int runs = 0;

        ValueTask<string> missing = cache.GetOrCreateAsync("key", _ => new ValueTask<string>($"run {++runs}"), cancellationToken: cancelled);
        string there = await cache.GetOrCreateAsync("there", _ => new ValueTask<string>($"run {++runs}"), cancellationToken: cancelled);

        Assert.True(missing.IsCanceled);
        Assert.Equal("value", there);
        Assert.Equal(0, runs);
    }

    [Fact]
    public async Task Factory_that_cancels_itself_is_a_failure()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.None);
        CairnHybridCache cache = caches.Add();

        await Assert.ThrowsAsync<TaskCanceledException>(async () =>
            await cache.GetOrCreateAsync<string>("key", _ => throw new TaskCanceledException("its own")));

        Assert.Equal(1, cache.GetStatistics().FactoryFaults);
    }

    [Theory]
    [MemberData(nameof(Sound))]
    public async Task Disposal_under_load_ends_every_call_with_a_value_or_as_disposed(string level)
    {
        await using var caches = new CachesUnderTest(level);
        CairnHybridCache cache = caches.Add(options => options.LocalMaxEntries = 50);
        using var working = new CountdownEvent(4);
        Task[] workers = [.. Enumerable.Range(0, 4).Select(seed => Task.Run(() => WorkAsync(new Random(seed))))];
        working.Wait();

        await cache.DisposeAsync();
        await Task.WhenAll(workers);

        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await cache.SetAsync("key", "value"));

        async Task WorkAsync(Random random)
        {
            for (int i = 0; ; i++)
            {
                if (i == 100)
                {
                    working.Signal();
                }

                string key = $"key {random.Next(200)}";
                try
                {
                    switch (random.Next(8))
                    {
                        case 0:
                            await cache.SetAsync(key, key, tags: ["tag"]);
                            break;
                        case 1:
                            await cache.RemoveAsync(key);
                            break;
                        case 2:
                            await cache.RemoveByTagAsync("tag");
                            break;
                        case 3:
                            Assert.Contains((await cache.GetAsync<string>(key)).Value, new[] { null, key });
                            break;
                        default:
                            Assert.Equal(key, await cache.GetOrCreateAsync(key, _ => new ValueTask<string>(key), tags: ["tag"]));
                            break;
                    }
                }
                catch (ObjectDisposedException)
                {
                    return;
                }
            }
        }
    }

    [Fact]
    public async Task Factory_that_runs_while_the_cache_is_disposed_continues_for_waiting_callers()
    {
        await using var caches = new CachesUnderTest(CachesUnderTest.Store);
        CairnHybridCache cache = caches.Add();
        var factory = new HeldFactory<string>();

        Task<string> waiting = cache.GetOrCreateAsync("key", token => factory.RunAsync(token), tags: ["tag"]).AsTask();
        await factory.StartedAsync();
        await cache.DisposeAsync();
        factory.Return("value");

        Assert.Equal("value", await waiting);
    }
}
