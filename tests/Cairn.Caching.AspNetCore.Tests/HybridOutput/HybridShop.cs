using System.Globalization;
using System.Security.Claims;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.RateLimiting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching.AspNetCore.Tests.HybridOutput;

/// <summary>
/// An application on a port of its own that keeps its responses in a hybrid cache. Each response that it creates has a number of its own.
/// </summary>
internal sealed class HybridShop : IAsyncDisposable
{
    private readonly WebApplication _application;
    private int _made;
    private int _requests;

    private HybridShop(WebApplication application)
    {
        _application = application;
        Client = new HttpClient(new SocketsHttpHandler { UseCookies = false });
    }

    public HttpClient Client { get; }

    /// <summary>
    /// Gets or sets the function that /gated and the paths below /fails await while they create a response. Its argument is the number of responses
    /// that were created before.
    /// </summary>
    public Func<int, Task> Gate { get; set; } = _ => Task.CompletedTask;

    /// <summary>Gets the number of responses that this process created.</summary>
    public int Made => Volatile.Read(ref _made);

    public CairnHybridCache Cache => _application.Services.GetRequiredService<CairnHybridCache>();

    public static async Task<HybridShop> StartAsync(
        Action<CairnHybridCacheOptions>? configure = null, Action<CairnHybridOutputOptions>? books = null, bool isEarly = false, bool isAuthenticated = false)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddCairnHybridCache(configure).AddHybridOutput();
        var shop = new HybridShop(builder.Build());
        try
        {
            shop.Map(books ?? (_ => { }), isEarly, isAuthenticated);
            await shop._application.StartAsync();
            shop.Client.BaseAddress = new Uri(shop._application.Urls.First());
            return shop;
        }
        catch
        {
            await shop.DisposeAsync();
            throw;
        }
    }

    public Task<string> GetAsync(string path) => Client.GetStringAsync(new Uri(path, UriKind.Relative));

    public async Task<HttpResponseMessage> SendAsync(HttpMethod method, string path, params (string Name, string Value)[] headers)
    {
        using var request = new HttpRequestMessage(method, new Uri(path, UriKind.Relative));
        foreach ((string name, string value) in headers)
        {
            Assert.True(request.Headers.TryAddWithoutValidation(name, value));
        }

        return await Client.SendAsync(request);
    }

    public async Task<string> GetAsync(string path, string header, string value)
    {
        using HttpResponseMessage response = await SendAsync(HttpMethod.Get, path, (header, value));
        return await response.Content.ReadAsStringAsync();
    }

    public async ValueTask DisposeAsync()
    {
        Client.Dispose();
        await _application.DisposeAsync();
    }

    private void Map(Action<CairnHybridOutputOptions> books, bool isEarly, bool isAuthenticated)
    {
        _application.Use((context, next) =>
        {
            context.Response.Headers["X-Request"] = Interlocked.Increment(ref _requests).ToString(CultureInfo.InvariantCulture);
            return next(context);
        });
        if (isEarly)
        {
            _application.UseCairnHybridOutput();
        }

        _application.Use((context, next) =>
        {
            if (isAuthenticated)
            {
                context.User = new ClaimsPrincipal(new ClaimsIdentity("test"));
            }

            context.Response.Headers["X-Behind"] = "yes";
            return next(context);
        });
        _application.UseRouting();
        _application.MapGet("/books/{**id}", (string id, HttpContext context) =>
        {
            context.Features.Get<ICairnHybridOutputFeature>()?.AddTag($"book:{id}");
            context.Response.Headers["X-Author"] = new(["Ueda", "Falk"]);
            return Make();
        }).CacheOutputInCairnHybrid(output =>
        {
            output.VaryByHost = false;
            output.Tags.Add("books");
            books(output);
        });
        _application.MapMethods("/both", ["GET", "HEAD"], () => Make()).CacheOutputInCairnHybrid(Everywhere);
        _application.MapGet("/hosted", () => Make()).CacheOutputInCairnHybrid();
        _application.MapGet("/limited", () => Make()).WithMetadata(new EnableRateLimitingAttribute("few")).CacheOutputInCairnHybrid(Everywhere);
        foreach (string host in new[] { "one.example", "two.example" })
        {
            _application.MapGet("/named", () => $"{host} {Make()}").RequireHost(host).CacheOutputInCairnHybrid(Everywhere);
        }

        _application.MapGet("/gated", async (HttpContext context) =>
        {
            string response = Make();
            await Gate(Made);
            context.RequestAborted.ThrowIfCancellationRequested();
            context.Features.Get<ICairnHybridOutputFeature>()!.AddTag("gated");
            return response;
        }).CacheOutputInCairnHybrid(Everywhere);
        _application.MapGet("/fails/{how}", async (string how, HttpContext context) =>
        {
            string response = Make();
            await Gate(Made);
            Spoil(how, context);
            return response;
        }).CacheOutputInCairnHybrid(Everywhere);
        _application.MapGet("/says/{header}", (string header, string value, HttpContext context) =>
        {
            context.Response.Headers[header] = value;
            return Make();
        }).CacheOutputInCairnHybrid(output => Everywhere(output));
        _application.MapGet("/long/{length}", (int length) => $"{Make()} {new string('x', length)}")
            .CacheOutputInCairnHybrid(output =>
            {
                Everywhere(output);
                output.MaxBodyBytes = 10_000;
            });
        _application.MapGet("/stream", async (HttpContext context) =>
        {
            context.Features.GetRequiredFeature<IHttpResponseBodyFeature>().DisableBuffering();
            await context.Response.WriteAsync(Make());
            await context.Response.Body.FlushAsync();
            await Gate(Made);
            await context.Response.WriteAsync(" end");
        }).CacheOutputInCairnHybrid(Everywhere);
    }

    private static void Everywhere(CairnHybridOutputOptions output) => output.VaryByHost = false;

    private static void Spoil(string how, HttpContext context)
    {
        switch (how)
        {
            case "status":
                context.Response.StatusCode = StatusCodes.Status404NotFound;
                break;
            case "cookie":
                context.Response.Cookies.Append("session", "secret");
                break;
            case "says-no":
                context.Features.Get<ICairnHybridOutputFeature>()!.DoNotCache();
                break;
            case "throws":
                throw new InvalidOperationException("The endpoint throws.");
            case "vary":
                context.Response.Headers.Vary = "Accept-Encoding, Cookie";
                break;
            default:
                context.Response.Headers.CacheControl = how;
                break;
        }
    }

    private string Make() => $"{Environment.ProcessId}:{Interlocked.Increment(ref _made)}";
}
