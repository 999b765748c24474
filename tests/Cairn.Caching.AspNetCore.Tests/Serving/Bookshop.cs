using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.OutputCaching;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching.AspNetCore.Tests.Serving;

/// <summary>A small application with cached responses, on a port of its own. Each response that it creates has a number of its own.</summary>
internal sealed class Bookshop : IAsyncDisposable
{
    private readonly WebApplication _application;
    private readonly HttpClient _client;
    private int _made;

    private Bookshop(WebApplication application)
    {
        _application = application;
        _client = new HttpClient();
    }

    /// <summary>Gets or sets the function that /gated awaits while it creates its response.</summary>
    public Func<Task> Gate { get; set; } = () => Task.CompletedTask;

    /// <summary>Gets the number of responses that this process created.</summary>
    public int Made => Volatile.Read(ref _made);

    public Uri Address => new(_application.Urls.First());

    public CairnOutputCacheStore Store => _application.Services.GetRequiredService<CairnOutputCacheStore>();

    public static async Task<Bookshop> StartAsync(Action<CairnOutputCacheOptions> configure, Action<OutputCacheOptions>? configureCaching = null)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddCairnOutputCache(configure);
        if (configureCaching is not null)
        {
            builder.Services.AddOutputCache(configureCaching);
        }

        var shop = new Bookshop(builder.Build());
        shop.Map();
        try
        {
            await shop._application.StartAsync();
            return shop;
        }
        catch
        {
            await shop.DisposeAsync();
            throw;
        }
    }

    public Task<string> GetAsync(string path) => _client.GetStringAsync(new Uri(Address, path));

    public async Task<HttpResponseMessage> SendAsync(HttpMethod method, string path, string header = "X-None", string value = "")
    {
        using var request = new HttpRequestMessage(method, new Uri(Address, path));
        request.Headers.Add(header, value);
        return await _client.SendAsync(request);
    }

    public async ValueTask DisposeAsync()
    {
        _client.Dispose();
        await _application.DisposeAsync();
    }

    private void Map()
    {
        _application.UseOutputCache();
        _application.MapGet("/plain", Make);
        _application.MapGet("/books/{id}", Make)
            .CacheOutput(policy => Keep(policy).SetVaryByQuery("lang").SetVaryByHeader("X-Currency").Tag("books"));
        _application.MapGet("/authors", Make).CacheOutput(policy => Keep(policy).Tag("authors"));
        _application.MapGet("/long/{length}", (int length) => $"{Make()} {new string('x', length)}").CacheOutput(policy => Keep(policy));
        _application.MapGet("/gated", async () =>
        {
            string response = Make();
            await Gate();
            return response;
        }).CacheOutput(policy => Keep(policy).Tag("books"));
        _application.MapGet("/late", async (HttpContext context) =>
        {
            string response = Make();
            await Gate();
            context.Features.Get<IOutputCacheFeature>()!.Context.Tags.Add("late");
            return response;
        }).CacheOutput(policy => Keep(policy));
        _application.MapPost("/evict/{tag}", (string tag, IOutputCacheStore store, CancellationToken cancellation) =>
            store.EvictByTagAsync(tag, cancellation).AsTask());
    }

    // Each process has a port of its own, unlike behind a proxy. If responses varied by host, the processes would share none.
    private static OutputCachePolicyBuilder Keep(OutputCachePolicyBuilder policy) =>
        policy.Expire(TimeSpan.FromHours(1)).SetVaryByHost(false);

    private string Make() => $"{Environment.ProcessId}:{Interlocked.Increment(ref _made)}";
}
