using System.Net;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.OutputCaching;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.Caching.AspNetCore.Tests.Serving;

/// <summary>ASP.NET Core's output caching over a store file, as a whole: Kestrel, middleware, store.</summary>
public sealed class OutputCachingTests : IDisposable
{
    private readonly StoreDirectory _directory = new();
    private readonly ManualClock _clock = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task Response_is_made_once_and_then_served()
    {
        await using Bookshop shop = await StartAsync();

        string first = await shop.GetAsync("/books/42");
        using HttpResponseMessage second = await shop.SendAsync(HttpMethod.Get, "/books/42");

        Assert.Equal(first, await second.Content.ReadAsStringAsync());
        Assert.NotNull(second.Headers.Age);
        Assert.Equal(1, shop.Made);
    }

    [Fact]
    public async Task Endpoint_without_a_policy_is_not_cached()
    {
        await using Bookshop shop = await StartAsync();

        Assert.NotEqual(await shop.GetAsync("/plain"), await shop.GetAsync("/plain"));
    }

    [Fact]
    public async Task Policies_for_all_endpoints_still_count()
    {
        await using Bookshop shop = await StartAsync(caching => caching.AddBasePolicy(policy => policy.Expire(TimeSpan.FromHours(1))));

        Assert.Equal(await shop.GetAsync("/plain"), await shop.GetAsync("/plain"));
    }

    [Fact]
    public async Task Responses_vary_as_the_policy_says_and_not_otherwise()
    {
        await using Bookshop shop = await StartAsync();
        string[] different =
        [
            await shop.GetAsync("/books/42"),
            await shop.GetAsync("/books/43"),
            await shop.GetAsync("/books/42?lang=de"),
            await shop.GetAsync("/books/42?lang=fr"),
            await GetAsync(shop, "/books/42", "X-Currency", "EUR"),
            await GetAsync(shop, "/books/42", "X-Currency", "GBP"),
        ];

        Assert.Equal(different.Length, different.Distinct(StringComparer.Ordinal).Count());
        Assert.Equal(different[0], await shop.GetAsync("/books/42?campaign=1"));
        Assert.Equal(different[2], await shop.GetAsync("/books/42?campaign=1&lang=de"));
        Assert.Equal(different[4], await GetAsync(shop, "/books/42", "X-Currency", "EUR"));
        Assert.Equal(different.Length, shop.Made);
    }

    [Fact]
    public async Task Response_ends_when_its_time_is_over()
    {
        await using Bookshop shop = await StartAsync();
        string first = await shop.GetAsync("/books/42");

        _clock.Advance(TimeSpan.FromHours(1) - TimeSpan.FromMilliseconds(1));
        Assert.Equal(first, await shop.GetAsync("/books/42"));

        _clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.NotEqual(first, await shop.GetAsync("/books/42"));
    }

    [Fact]
    public async Task Tag_evicts_what_carries_it_and_nothing_else()
    {
        await using Bookshop shop = await StartAsync();
        string book = await shop.GetAsync("/books/42");
        string author = await shop.GetAsync("/authors");
        string late = await shop.GetAsync("/late");

        await EvictAsync(shop, "books");

        string again = await shop.GetAsync("/books/42");
        Assert.NotEqual(book, again);
        Assert.Equal(again, await shop.GetAsync("/books/42"));
        Assert.Equal(author, await shop.GetAsync("/authors"));
        Assert.Equal(late, await shop.GetAsync("/late"));

        await EvictAsync(shop, "late");
        Assert.NotEqual(late, await shop.GetAsync("/late"));
        Assert.Equal(again, await shop.GetAsync("/books/42"));
    }

    [Theory]
    [InlineData("/gated", "books")]
    [InlineData("/late", "late")]
    public async Task Response_whose_tag_is_evicted_while_it_is_made_is_not_kept(string path, string tag)
    {
        await using Bookshop shop = await StartAsync();
        shop.Gate = () => EvictAsync(shop, tag);
        string overtaken = await shop.GetAsync(path);
        shop.Gate = () => Task.CompletedTask;

        string next = await shop.GetAsync(path);

        Assert.NotEqual(overtaken, next);
        Assert.Equal(next, await shop.GetAsync(path));
        Assert.Equal(1, shop.Store.OvertakenResponses);
    }

    [Fact]
    public async Task Response_during_which_another_tag_is_evicted_is_kept()
    {
        await using Bookshop shop = await StartAsync();
        await shop.GetAsync("/books/42");
        shop.Gate = () => EvictAsync(shop, "authors");

        Assert.Equal(await shop.GetAsync("/gated"), await shop.GetAsync("/gated"));
        Assert.Equal(0, shop.Store.OvertakenResponses);
    }

    [Fact]
    public async Task Request_that_waited_for_a_response_that_was_overtaken_gets_one_of_its_own()
    {
        using var hasBegun = new SemaphoreSlim(0);
        using var isMaking = new SemaphoreSlim(0);
        using var mayFinish = new SemaphoreSlim(0);
        await using Bookshop shop = await StartAsync(caching => caching.AddBasePolicy(new LaterPolicy(onRequest: request =>
        {
            if (request.Path == "/gated")
            {
                hasBegun.Release();
            }
        })));
        shop.Gate = async () =>
        {
            isMaking.Release();
            await mayFinish.WaitAsync();
        };

        Task<string> overtaken = shop.GetAsync("/gated");
        await hasBegun.WaitAsync();
        await isMaking.WaitAsync();
        await EvictAsync(shop, "books");
        Task<string> waiting = shop.GetAsync("/gated");
        await hasBegun.WaitAsync();
        mayFinish.Release(2);

        string[] responses = await Task.WhenAll(overtaken, waiting);
        Assert.NotEqual(responses[0], responses[1]);
        Assert.Equal(responses[1], await shop.GetAsync("/gated"));
    }

    [Fact]
    public async Task Response_is_stored_while_the_request_of_an_overtaken_one_is_not_complete()
    {
        using var isMaking = new SemaphoreSlim(0);
        using var mayFinish = new SemaphoreSlim(0);
        using var isCompleting = new SemaphoreSlim(0);
        using var mayComplete = new SemaphoreSlim(0);
        bool isHeld = true;
        await using Bookshop shop = await StartAsync(caching => caching.AddBasePolicy(new LaterPolicy(onResponseAsync: context =>
        {
            if (Volatile.Read(ref isHeld) && context.HttpContext.Request.Path == "/gated")
            {
                // Callbacks run in reverse order, so this one holds back those that were registered before.
                context.HttpContext.Response.OnCompleted(() =>
                {
                    isCompleting.Release();
                    return mayComplete.WaitAsync();
                });
            }

            return Task.CompletedTask;
        })));
        shop.Gate = async () =>
        {
            isMaking.Release();
            await mayFinish.WaitAsync();
        };

        // A client of its own. The server reads no further request from a connection whose request is not complete, and a shared client may use it again.
        using var client = new HttpClient();
        Task<string> overtaken = client.GetStringAsync(new Uri(shop.Address, "/gated"));
        await isMaking.WaitAsync();
        await EvictAsync(shop, "books");
        mayFinish.Release();
        await isCompleting.WaitAsync();
        Volatile.Write(ref isHeld, false);
        shop.Gate = () => Task.CompletedTask;

        string next = await shop.GetAsync("/gated");
        string later = await shop.GetAsync("/gated");
        mayComplete.Release();

        Assert.NotEqual(await overtaken, next);
        Assert.Equal(next, later);
    }

    [Fact]
    public async Task Request_that_begins_after_an_eviction_does_not_share_a_response_whose_tags_were_checked_before_it()
    {
        using var isChecked = new SemaphoreSlim(0);
        using var mayFinish = new SemaphoreSlim(0);
        bool isGated = true;
        await using Bookshop shop = await StartAsync(caching => caching.AddBasePolicy(new LaterPolicy(onResponseAsync: async _ =>
        {
            if (Volatile.Read(ref isGated))
            {
                isChecked.Release();
                await mayFinish.WaitAsync();
            }
        })));
        Task<string> overtaken = shop.GetAsync("/books/42");
        await isChecked.WaitAsync();

        await EvictAsync(shop, "books");
        Task<string> later = shop.GetAsync("/books/42");
        Assert.True(await isChecked.WaitAsync(TimeSpan.FromSeconds(30)), "The request waited for the earlier response.");
        Volatile.Write(ref isGated, false);
        mayFinish.Release(2);

        Assert.NotEqual(await overtaken, await later);
        string next = await shop.GetAsync("/books/42");
        Assert.NotEqual(await overtaken, next);
        Assert.Equal(next, await shop.GetAsync("/books/42"));
    }

    [Fact]
    public async Task Response_that_is_too_long_for_the_store_is_made_each_time()
    {
        await using Bookshop shop = await StartAsync();
        int longest = (int)StoreDirectory.SmallCapacityBytes / 8;

        Assert.NotEqual(await shop.GetAsync($"/long/{longest}"), await shop.GetAsync($"/long/{longest}"));
        Assert.Equal(await shop.GetAsync($"/long/{longest / 2}"), await shop.GetAsync($"/long/{longest / 2}"));

        Assert.Equal(2, shop.Store.UnstorableResponses);
    }

    [Fact]
    public async Task Other_processes_serve_what_one_has_made_until_any_of_them_evicts_it()
    {
        await using Bookshop shop = await StartAsync(systemClock: true);
        using ChildProcess process = ChildProcess.Start(typeof(Program), "serve-books", _directory.FilePath);
        using var other = new HttpClient { BaseAddress = new Uri(process.ReadLine()) };

        for (int round = 0; round < 20; round++)
        {
            string mine = await shop.GetAsync("/books/42");
            Assert.Equal(mine, await other.GetStringAsync(new Uri("/books/42", UriKind.Relative)));

            (await other.PostAsync(new Uri("/evict/books", UriKind.Relative), content: null)).EnsureSuccessStatusCode();
            string theirs = await other.GetStringAsync(new Uri("/books/42", UriKind.Relative));
            Assert.NotEqual(mine, theirs);
            Assert.Equal(theirs, await shop.GetAsync("/books/42"));

            await EvictAsync(shop, "books");
            Assert.NotEqual(theirs, await shop.GetAsync("/books/42"));
            await EvictAsync(shop, "books");
        }

        Assert.Equal(0, process.Finish());
    }

    [Fact]
    public async Task Responses_and_evictions_are_there_after_a_restart_and_after_a_kill()
    {
        string killed;
        using (ChildProcess process = ChildProcess.Start(typeof(Program), "serve-books", _directory.FilePath))
        {
            using var client = new HttpClient { BaseAddress = new Uri(process.ReadLine()) };
            killed = await client.GetStringAsync(new Uri("/books/42", UriKind.Relative));
            await client.GetStringAsync(new Uri("/authors", UriKind.Relative));
            (await client.PostAsync(new Uri("/evict/authors", UriKind.Relative), content: null)).EnsureSuccessStatusCode();
            process.Kill();
        }

        string author;
        await using (Bookshop shop = await StartAsync(systemClock: true))
        {
            Assert.Equal(killed, await shop.GetAsync("/books/42"));
            author = await shop.GetAsync("/authors");
            Assert.Equal(1, shop.Made);
        }

        await using Bookshop restarted = await StartAsync(systemClock: true);
        Assert.Equal(killed, await restarted.GetAsync("/books/42"));
        Assert.Equal(author, await restarted.GetAsync("/authors"));
    }

    [Fact]
    public async Task Host_does_not_start_if_the_store_cannot_be_opened()
    {
        await Assert.ThrowsAsync<DirectoryNotFoundException>(
            () => Bookshop.StartAsync(options => options.Path = _directory["missing/store.cairn"]));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Store_is_the_one_that_is_used_whatever_was_registered_before_or_is_after(bool isAfter)
    {
        var services = new ServiceCollection().AddLogging();
        if (!isAfter)
        {
            services.AddOutputCache();
        }

        services.AddCairnOutputCache(Configure).AddCairnOutputCache(options => options.CollectionName = "responses");
        if (isAfter)
        {
            services.AddOutputCache();
        }

        using ServiceProvider provider = services.BuildServiceProvider();

        var store = Assert.IsType<CairnOutputCacheStore>(Assert.Single(provider.GetServices<IOutputCacheStore>()));
        Assert.Same(store, provider.GetRequiredService<IOutputCacheBufferStore>());
        Assert.Equal(["responses", "responses/tags"], store.Store.CollectionNames);
    }

    [Fact]
    public void Caches_of_an_application_share_one_opening_of_its_file()
    {
        using ServiceProvider provider = new ServiceCollection().AddLogging()
            .AddCairnOutputCache(Configure)
            .AddCairnDistributedCache(Configure)
            .BuildServiceProvider();

        Assert.Equal(0, provider.GetRequiredService<CairnDistributedCache>().DroppedWrites);
        Assert.Equal(1, provider.GetRequiredService<CairnOutputCacheStore>().Store.GetStatistics().Openings);
    }

    private static async Task<string> GetAsync(Bookshop shop, string path, string header, string value)
    {
        using HttpResponseMessage response = await shop.SendAsync(HttpMethod.Get, path, header, value);
        return await response.Content.ReadAsStringAsync();
    }

    private static async Task EvictAsync(Bookshop shop, string tag)
    {
        using HttpResponseMessage response = await shop.SendAsync(HttpMethod.Post, $"/evict/{tag}");
        Assert.Equal(HttpStatusCode.OK, response.StatusCode);
    }

    private Task<Bookshop> StartAsync(Action<OutputCacheOptions>? configureCaching = null, bool systemClock = false) =>
        Bookshop.StartAsync(
            options =>
            {
                Configure(options);
                options.TimeProvider = systemClock ? TimeProvider.System : _clock;
            },
            configureCaching);

    private void Configure(CairnStoreFileOptions options)
    {
        options.Path = _directory.FilePath;
        options.CapacityBytes = StoreDirectory.SmallCapacityBytes;
        options.FlushOnClose = false;
    }

    // Policies are called in the order in which they were added. So this one is called after a request got its epoch, and after the tags of a response
    // were checked.
    private sealed class LaterPolicy(Action<HttpRequest>? onRequest = null, Func<OutputCacheContext, Task>? onResponseAsync = null) : IOutputCachePolicy
    {
        public ValueTask CacheRequestAsync(OutputCacheContext context, CancellationToken cancellation)
        {
            onRequest?.Invoke(context.HttpContext.Request);
            return ValueTask.CompletedTask;
        }

        public ValueTask ServeFromCacheAsync(OutputCacheContext context, CancellationToken cancellation) => ValueTask.CompletedTask;

        public ValueTask ServeResponseAsync(OutputCacheContext context, CancellationToken cancellation) =>
            onResponseAsync is null ? ValueTask.CompletedTask : new ValueTask(onResponseAsync(context));
    }
}
