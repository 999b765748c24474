using System.Net.Sockets;
using Cairn.Dashboard.Hosting;
using Cairn.Server;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Cairn.Dashboard;

/// <summary>Shows a server over HTTP: its figures at /metrics, its health at /health/live and /health/ready. Changes nothing.</summary>
public sealed class CairnDashboard : IHttpService
{
    private const int MaxConnections = 256;
    private const int MaxRequestHeaderBytes = 16 << 10;

    private readonly ServerInsight _server;
    private readonly HandedSockets _sockets = new();
    private readonly WebApplication _application;
    private readonly Task _started;

    /// <summary>Begins to serve; clients may be handed over at once.</summary>
    /// <param name="server">What is shown.</param>
    public CairnDashboard(ServerInsight server)
    {
        ArgumentNullException.ThrowIfNull(server);
        _server = server;
        _application = Build();
        _started = StartAsync();
    }

    /// <inheritdoc/>
    public void Serve(Socket client) => _sockets.Add(client);

    /// <summary>Ends the connections, after the requests at hand.</summary>
    public async ValueTask DisposeAsync()
    {
#pragma warning disable VSTHRD003 // Begun by the constructor; it waits for nobody who could wait for this.
        await _started.ConfigureAwait(false);
#pragma warning restore VSTHRD003
        await _sockets.DisposeAsync().ConfigureAwait(false);
        await _application.DisposeAsync().ConfigureAwait(false);
    }

    private WebApplication Build()
    {
        // Empty: no configuration, environment variable or file of the web server's own has a say here.
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions { ContentRootPath = AppContext.BaseDirectory });
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel =>
        {
            kestrel.AddServerHeader = false;
            kestrel.Limits.MaxConcurrentConnections = MaxConnections;
            kestrel.Limits.MaxRequestHeadersTotalSize = MaxRequestHeaderBytes;
            kestrel.Limits.MaxRequestBodySize = 0;
            kestrel.Listen(HandedSockets.Place, listen => listen.Protocols = HttpProtocols.Http1);
        });
        builder.Services.AddRoutingCore();
        builder.Services.AddSingleton<IConnectionListenerFactory>(_sockets);

        // Signals are the tool's business.
        builder.Services.AddSingleton<IHostLifetime>(new NoLifetime());
        WebApplication application = builder.Build();
        Pages.Map(application, _server);
        return application;
    }

    private async Task StartAsync()
    {
        try
        {
            await _application.StartAsync().ConfigureAwait(false);
        }
#pragma warning disable CA1031 // Figures that cannot be shown are no reason to stop serving the cache.
        catch (Exception e)
#pragma warning restore CA1031
        {
            _server.Log(ServerLogLevel.Error, $"HTTP cannot be served: {e.Message}");
            _sockets.End();
        }
    }
}
