using System.Net;
using Cairn.Dashboard.Pages.Web;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Cairn.Dashboard.Hosting;

/// <summary>Creates web servers with as few features as possible.</summary>
internal static class WebHosts
{
    private const int MaxConnections = 256;
    private const int MaxLeavingConnections = 64;
    private const int MaxRequestHeaderBytes = 16 << 10;

    /// <summary>Creates a builder that ignores the web server's own configuration, environment variables and files.</summary>
    public static WebApplicationBuilder CreateBuilder(Action<KestrelServerOptions> listen)
    {
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions { ContentRootPath = AppContext.BaseDirectory });
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel =>
        {
            kestrel.AddServerHeader = false;
            kestrel.Limits.MaxConcurrentConnections = MaxConnections + MaxLeavingConnections; // ConnectionRoom has the limit.
            kestrel.Limits.MaxRequestHeadersTotalSize = MaxRequestHeaderBytes;
            kestrel.Limits.MaxRequestBodySize = RequestBody.MaxBytes;
            listen(kestrel);
        });
        builder.Services.AddRoutingCore();
        builder.Services.AddSingleton(new ConnectionRoom(MaxConnections));

        // The tool handles signals.
        builder.Services.AddSingleton<IHostLifetime>(new NoLifetime());
        return builder;
    }

    /// <summary>Builds the web server.</summary>
    public static WebApplication Build(WebApplicationBuilder builder)
    {
        WebApplication application = builder.Build();
        ConnectionRoom room = application.Services.GetRequiredService<ConnectionRoom>();
        application.Use((context, next) =>
        {
            room.Use(context);
            return next(context);
        });
        return application;
    }

    /// <summary>Listens for HTTP without TLS.</summary>
    public static void Listen(KestrelServerOptions kestrel, EndPoint place)
    {
        ConnectionRoom room = kestrel.ApplicationServices.GetRequiredService<ConnectionRoom>();
        kestrel.Listen(place, options =>
        {
            options.Protocols = HttpProtocols.Http1;
            options.Use(next => connection => room.ServeAsync(connection, next));
        });
    }
}
