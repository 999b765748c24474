using System.Net;
using Cairn.Caching;
using Cairn.Dashboard.Tests.Browsing;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Playwright;
using static Microsoft.Playwright.Assertions;

namespace Cairn.Dashboard.Tests;

/// <summary>The dashboard of an application's caches, which one line adds.</summary>
[Collection(Browser.Collection)]
public sealed class CachesTests(Browser browser)
{
    [RequiresToolFact("chromium")]
    public async Task Each_cache_is_shown_with_both_levels_and_what_it_spared()
    {
        using var directory = new StoreDirectory();
        await using WebApplication application = await StartAsync(directory, endpoints => endpoints.MapCairnDashboard());
        var cache = application.Services.GetRequiredService<CairnHybridCache>();
        using var gate = new SemaphoreSlim(0);
        Task<string>[] callers = [.. Enumerable.Range(0, 20).Select(_ => cache.GetOrCreateAsync("book:1", async cancellationToken =>
        {
            await gate.WaitAsync(cancellationToken);
            return "Dune";
        }).AsTask())];
        gate.Release();
        await Task.WhenAll(callers);
        await cache.GetOrCreateAsync("book:1", _ => ValueTask.FromResult("never"));
        await cache.RemoveByTagAsync("books");
        await using WatchedPage page = await browser.OpenAsync();

        await page.GoAsync(new Uri(AddressOf(application), "/cairn"));

        await Expect(Tile(page, "Stampedes prevented")).ToHaveTextAsync("19");
        await Expect(Tile(page, "Invalidations")).ToHaveTextAsync("1");
        await Expect(page.Page.GetByText("Both levels work")).ToBeVisibleAsync();
        await page.PictureAsync("caches-light-large");
        List<string> wrong = await LayoutWalk.FindMisplacedTextsAsync(page, LayoutWalk.Widths);
        Assert.True(wrong.Count == 0, string.Join("\n", wrong));
        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "stock" }).ClickAsync();
        await Expect(Tile(page, "Stampedes prevented")).ToHaveTextAsync("0");
        await Expect(page.Page.GetByText("First level only")).ToBeVisibleAsync();
        await page.Page.Locator("a.brand").ClickAsync(); // The link leads to the overview, which changes the address.
        await Expect(page.Page).ToHaveURLAsync(new System.Text.RegularExpressions.Regex("#overview$"));
        await Expect(page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "stock" })).ToHaveAttributeAsync("aria-pressed", "true");
        await Expect(page.Page.GetByText("First level only")).ToBeVisibleAsync();
        await page.Page.SetViewportSizeAsync(360, 740);
        await page.Page.EmulateMediaAsync(new PageEmulateMediaOptions { ColorScheme = ColorScheme.Dark });
        await page.AssertFitsAsync();
        await page.PictureAsync("caches-dark-small");
        page.AssertNoProblems();
    }

    [Fact]
    public async Task Only_this_machine_has_access_unless_the_application_decides_otherwise()
    {
        using var directory = new StoreDirectory();
        await using WebApplication application = await StartAsync(directory, endpoints => endpoints.MapCairnDashboard());
        using var http = new HttpClient { BaseAddress = AddressOf(application) };

        Assert.Equal(HttpStatusCode.OK, await AskAsync(http));
        Assert.Equal(HttpStatusCode.Forbidden, await AskAsync(http, request => request.Headers.Add("X-Forwarded-For", "192.0.2.7")));
        Assert.Equal(HttpStatusCode.MisdirectedRequest, await AskAsync(http, request => request.Headers.Host = "evil.example"));
    }

    [Fact]
    public async Task Authorization_of_the_application_decides_where_it_is_asked_for()
    {
        using var directory = new StoreDirectory();
        await using WebApplication application = await StartAsync(directory, endpoints =>
            endpoints.MapCairnDashboard("/ops/cairn").RequireAuthorization(new AuthorizationPolicyBuilder().RequireAssertion(context =>
                ((Microsoft.AspNetCore.Http.HttpContext)context.Resource!).Request.Headers.ContainsKey("X-Admin")).Build()));
        using var http = new HttpClient { BaseAddress = AddressOf(application) };

        Assert.Equal(HttpStatusCode.OK, await AskAsync(http, request =>
        {
            request.Headers.Add("X-Admin", "1");
            request.Headers.Add("X-Forwarded-For", "192.0.2.7");
            request.Headers.Host = "shop.example";
        }, "/ops/cairn/api/session"));
        Assert.Equal(HttpStatusCode.Forbidden, await AskAsync(http, path: "/ops/cairn/api/session"));
    }

    private static ILocator Tile(WatchedPage page, string label) =>
        page.Page.Locator(".tile").Filter(new LocatorFilterOptions { HasText = label }).Locator(".value");

    private static async Task<HttpStatusCode> AskAsync(HttpClient http, Action<HttpRequestMessage>? change = null, string path = "/cairn/api/session")
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        change?.Invoke(request);
        using HttpResponseMessage response = await http.SendAsync(request);
        return response.StatusCode;
    }

    private static Uri AddressOf(WebApplication application) =>
        new(application.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single());

    private static async Task<WebApplication> StartAsync(StoreDirectory directory, Action<WebApplication> map)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddAuthentication("none").AddScheme<Microsoft.AspNetCore.Authentication.AuthenticationSchemeOptions, AnonymousHandler>("none", null);
        builder.Services.AddAuthorization();
        builder.Services.AddCairnHybridCache(options => options.UseStoreFile(directory.FilePath, file => file.CapacityBytes = StoreDirectory.SmallCapacityBytes));
        builder.Services.AddKeyedCairnHybridCache("stock", options => options.UseSecondLevel = false);
        WebApplication application = builder.Build();
        application.UseAuthentication();
        application.UseAuthorization();
        map(application);
        await application.StartAsync();
        return application;
    }

    // Every client is anonymous. The policies examine the request.
    private sealed class AnonymousHandler(
        Microsoft.Extensions.Options.IOptionsMonitor<Microsoft.AspNetCore.Authentication.AuthenticationSchemeOptions> options, ILoggerFactory loggers,
        System.Text.Encodings.Web.UrlEncoder encoder)
        : Microsoft.AspNetCore.Authentication.AuthenticationHandler<Microsoft.AspNetCore.Authentication.AuthenticationSchemeOptions>(options, loggers, encoder)
    {
        protected override Task<Microsoft.AspNetCore.Authentication.AuthenticateResult> HandleAuthenticateAsync() =>
            Task.FromResult(Microsoft.AspNetCore.Authentication.AuthenticateResult.Success(new Microsoft.AspNetCore.Authentication.AuthenticationTicket(
                new System.Security.Claims.ClaimsPrincipal(new System.Security.Claims.ClaimsIdentity("none")), Scheme.Name)));
    }
}
