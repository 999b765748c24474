using System.Net;
using System.Net.Http.Headers;
using System.Net.Http.Json;
using Cairn.Caching;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.FileProviders;

namespace Cairn.DocumentTests.Samples;

/// <summary>The hybrid cache: factories that decide, dependencies, fail-safe, refreshing, tags.</summary>
public sealed class HybridSamples : SampleTest
{
    private readonly CairnHybridCache cache = CairnHybridCache.Create();

    [Fact]
    public async Task Factory_that_decides()
    {
        var identity = new Identity();

        Token token = await cache.GetOrCreateAsync<Token>("token", async (context, cancellation) =>
        {
            Token token = await identity.RequestAsync(cancellation);
            context.Options = context.Options with { Expiration = token.ExpiresIn - TimeSpan.FromSeconds(30) };
            context.AddTag($"tenant:{token.Tenant}");
            return token;
        });

        Assert.True(cache.TryGet<Token>("token", out _));
        await cache.RemoveByTagAsync($"tenant:{token.Tenant}");
        Assert.False(cache.TryGet<Token>("token", out _));
    }

    [Fact]
    public async Task Requests_of_users_of_HybridCache_are_met()
    {
        var database = new Shelf();
        await cache.SetAsync("book:42", new Book(42, "Dune", 9.5m));

        CacheResult<Book> known = await cache.GetAsync<Book>("book:42");
        CacheResult<Book>[] several = await cache.GetManyAsync<Book>(["book:42", "book:43"]);

        Book? book = await cache.GetOrCreateAsync<Book?>("book:44", async (context, token) =>
        {
            Book? found = await database.FindAsync(44, token);
            if (found is null)
            {
                context.DoNotCache();
                return null;
            }

            context.Options = context.Options with { Expiration = TimeSpan.FromHours(1) };
            context.AddTag($"price:{found.Price}");
            return found;
        }, new CairnEntryOptions { SlidingExpiration = TimeSpan.FromMinutes(10), FailSafe = TimeSpan.FromHours(2) });

        Assert.Equal("Dune", known.Value!.Title);
        Assert.Equal([true, false], several.Select(result => result.IsFound));
        Assert.Null(book);
        Assert.False((await cache.GetAsync<Book>("book:44")).IsFound);
    }

    [Fact]
    public async Task Warm_up()
    {
        await cache.SetAsync("warm-up", new Catalogue([new Book(0, "", 0m)]));
        await cache.GetAsync<Catalogue>("warm-up", new CairnEntryOptions { Flags = HybridCacheEntryFlags.DisableLocalCacheRead });
        await cache.RemoveAsync("warm-up");

        Assert.False((await cache.GetAsync<Catalogue>("warm-up")).IsFound);
    }

    [Fact]
    public async Task Change_tokens()
    {
        await File.WriteAllTextAsync("prices.json", "1");
        using var files = new PhysicalFileProvider(Directory.GetCurrentDirectory());

        var options = new CairnEntryOptions { ChangeTokens = [files.Watch("prices.json")] };
        string prices = await cache.GetOrCreateAsync("prices", token => ReadPricesAsync(token), options);

        await cache.GetOrCreateAsync<string>("prices", async (context, token) =>
        {
            context.AddDependency(files.Watch("prices.json"));
            return await ReadPricesAsync(token);
        });

        Assert.Equal("1", prices);

        static async ValueTask<string> ReadPricesAsync(CancellationToken token) => await File.ReadAllTextAsync("prices.json", token);
    }

    [Fact]
    public async Task Topics()
    {
        const int id = 42;
        int loads = 0;

        var options = new CairnEntryOptions { Topics = [$"book:{id}"] };
        Book book = await cache.GetOrCreateAsync($"book:{id}", token => LoadAsync(id, token), options);

        await cache.RaiseTopicAsync($"book:{id}");

        Assert.Equal(book, await cache.GetOrCreateAsync($"book:{id}", token => LoadAsync(id, token), options));
        Assert.Equal(2, loads);

        ValueTask<Book> LoadAsync(int id, CancellationToken token)
        {
            token.ThrowIfCancellationRequested();
            loads++;
            return new(new Book(id, "Dune", 9.5m));
        }
    }

    [Fact]
    public async Task Fail_safe()
    {
        var options = new CairnEntryOptions
        {
            Expiration = TimeSpan.FromMinutes(5),
            FailSafe = TimeSpan.FromHours(2),
            FailSafeThrottle = TimeSpan.FromSeconds(30),
            FactorySoftTimeout = TimeSpan.FromMilliseconds(100),
            FactoryHardTimeout = TimeSpan.FromSeconds(2),
        };

        Assert.Equal("Dune", await cache.GetOrCreateAsync("book:42", _ => new ValueTask<string>("Dune"), options));
    }

    [Fact]
    public async Task Feed_that_has_not_changed()
    {
        Task<Feed> LoadAsync(CairnHybridCache cache, HttpClient http) => cache.GetOrCreateAsync<Feed>("feed", async (context, token) =>
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, "feed.json");
            if (context.ETag is { } etag)
            {
                request.Headers.IfNoneMatch.Add(EntityTagHeaderValue.Parse(etag));
            }

            using HttpResponseMessage response = await http.SendAsync(request, token);
            if (response.StatusCode == HttpStatusCode.NotModified)
            {
                return context.NotModified();
            }

            context.ETag = response.Headers.ETag?.ToString();
            return (await response.Content.ReadFromJsonAsync<Feed>(token))!;
        }, new CairnEntryOptions { Expiration = TimeSpan.FromMinutes(1), FailSafe = TimeSpan.FromHours(1) }).AsTask();

        using var server = new FeedServer();
        using var http = new HttpClient(server) { BaseAddress = new Uri("http://feeds.internal/") };
        var first = await LoadAsync(cache, http);
        await cache.ExpireAsync("feed");
        var second = await LoadAsync(cache, http);
        Assert.Equal(("news", "news"), (first.Title, second.Title));
        Assert.Equal([HttpStatusCode.OK, HttpStatusCode.NotModified], server.Answers);
    }

    [Fact]
    public async Task Tags()
    {
        const int id = 42;
        const string author = "herbert";
        int loads = 0;
        Func<CancellationToken, ValueTask<string>> load = _ =>
        {
            loads++;
            return new("Dune");
        };

        await cache.GetOrCreateAsync($"book:{id}", load, tags: ["books", $"author:{author}"]);
        await cache.RemoveByTagAsync($"author:{author}");

        await cache.GetOrCreateAsync($"book:{id}", load);
        Assert.Equal(2, loads);
    }

    [Fact]
    public async Task Entries_with_all_tags_and_keys_by_tag()
    {
        await cache.SetAsync("price:1", 10, tags: ["tenant:5", "prices"]);
        await cache.SetAsync("price:2", 20, tags: ["tenant:6", "prices"]);

        await cache.RemoveByTagAsync(["tenant:5", "prices"], TagMatch.All);
        await foreach (string key in cache.KeysByTagAsync("prices"))
        {
            Console.WriteLine(key);
        }

        Assert.Equal("price:2" + Environment.NewLine, Output);
    }

    [Fact]
    public async Task Topics_and_change_tokens()
    {
        IConfiguration configuration = new ConfigurationBuilder().Build();
        int loads = 0;
        Func<CancellationToken, ValueTask<string>> load = _ =>
        {
            loads++;
            return new("9.50");
        };

        var options = new CairnEntryOptions
        {
            ChangeTokens = [configuration.GetReloadToken()],
            Topics = ["prices"],
        };
        await cache.GetOrCreateAsync("price list", load, options);
        await cache.RaiseTopicAsync("prices");

        await cache.GetOrCreateAsync("price list", load, options);
        Assert.Equal(2, loads);
    }

    private sealed record Catalogue(List<Book> Books);

    private sealed record Token(TimeSpan ExpiresIn, string Tenant);

    private sealed record Feed(string Title);

    private sealed class Identity
    {
        public Task<Token> RequestAsync(CancellationToken cancellation)
        {
            cancellation.ThrowIfCancellationRequested();
            return Task.FromResult(new Token(TimeSpan.FromHours(1), "bookshop"));
        }
    }

    private sealed class Shelf
    {
        public ValueTask<Book?> FindAsync(int id, CancellationToken token)
        {
            token.ThrowIfCancellationRequested();
            return new(id == 42 ? new Book(id, "Dune", 9.5m) : null);
        }
    }

    private sealed class FeedServer : HttpMessageHandler
    {
        public List<HttpStatusCode> Answers { get; } = [];

        protected override Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken)
        {
            Answers.Add(request.Headers.IfNoneMatch.Count > 0 ? HttpStatusCode.NotModified : HttpStatusCode.OK);
            var response = new HttpResponseMessage(Answers[^1]) { Content = JsonContent.Create(new Feed("news")) };
            response.Headers.ETag = new EntityTagHeaderValue("\"1\"");
            return Task.FromResult(response);
        }
    }
}
