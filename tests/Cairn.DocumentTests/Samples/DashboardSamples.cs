using System.Net;
using Microsoft.AspNetCore.Authentication.Cookies;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;

namespace Cairn.DocumentTests.Samples;

/// <summary>The dashboard of an application's caches.</summary>
public sealed class DashboardSamples : SampleTest
{
    private readonly WebApplicationBuilder builder = WebApplication.CreateBuilder();

    public DashboardSamples()
    {
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddCairnHybridCache();
    }

    [Fact]
    public async Task Page_is_there_for_this_machine()
    {
        WebApplication app = builder.Build();
        app.MapCairnDashboard();

        Assert.Equal(HttpStatusCode.OK, await VisitAsync(app, "/cairn"));
    }

    [Fact]
    public async Task Page_is_there_for_those_whom_the_application_lets_in()
    {
        builder.Services.AddAuthentication(CookieAuthenticationDefaults.AuthenticationScheme)
            .AddCookie(o => o.Events.OnRedirectToLogin = refused => Task.FromResult(refused.Response.StatusCode = 401));
        builder.Services.AddAuthorizationBuilder().AddPolicy("operators", policy => policy.RequireAuthenticatedUser());
        WebApplication app = builder.Build();
        app.UseAuthentication();
        app.UseAuthorization();

        app.MapCairnDashboard("/ops/cairn").RequireAuthorization("operators");

        Assert.Equal(HttpStatusCode.Unauthorized, await VisitAsync(app, "/ops/cairn"));
    }

    private static async Task<HttpStatusCode> VisitAsync(WebApplication app, string path)
    {
        await using (app)
        {
            await app.StartAsync();
            string address = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single();
            using var client = new HttpClient();
            using HttpResponseMessage answer = await client.GetAsync(new Uri(address + path));
            return answer.StatusCode;
        }
    }
}
