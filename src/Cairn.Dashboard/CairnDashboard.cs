using System.Net.Sockets;
using Cairn.Dashboard.Hosting;
using Cairn.Dashboard.Pages.Web;
using Cairn.Dashboard.Serving;
using Cairn.Server;
using Cairn.Server.Logging;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Cairn.Dashboard;

/// <summary>
/// Serves the dashboard of a server over HTTP at /, metrics at /metrics, and health at /health/live and /health/ready. A user of the
/// dashboard has the same rights as over the server's protocols.
/// </summary>
public sealed class CairnDashboard : IHttpService
{
    private readonly ServerInsight _server;
    private readonly HandedSockets _sockets = new();
    private readonly DashboardHistory _history;
    private readonly bool _ownsHistory;
    private readonly WebApplication _application;
    private readonly Task _started;

    /// <summary>Begins to serve. Clients may be passed to <see cref="Serve"/> at once.</summary>
    /// <param name="server">The server to show.</param>
    /// <param name="history">The history of the server; null to begin one now.</param>
    public CairnDashboard(ServerInsight server, DashboardHistory? history = null)
    {
        ArgumentNullException.ThrowIfNull(server);
        _server = server;
        _ownsHistory = history is null;
        _history = history ?? new DashboardHistory(server);
        _application = Build();
        _started = StartAsync();
    }

    /// <inheritdoc/>
    public void Serve(Socket client) => _sockets.Add(client);

    /// <summary>Completes the current requests and closes the connections.</summary>
    public async ValueTask DisposeAsync()
    {
#pragma warning disable VSTHRD003 // The constructor began the task, and the task never waits for this method.
        await _started.ConfigureAwait(false);
#pragma warning restore VSTHRD003
        await _sockets.DisposeAsync().ConfigureAwait(false);
        await _application.DisposeAsync().ConfigureAwait(false);
        if (_ownsHistory)
        {
            _history.Dispose();
        }
    }

    private WebApplication Build()
    {
        WebApplicationBuilder builder = WebHosts.CreateBuilder(kestrel => WebHosts.Listen(kestrel, HandedSockets.Place));
        builder.Services.AddSingleton<IConnectionListenerFactory>(_sockets);
        WebApplication application = WebHosts.Build(builder);
        ProbePages.Map(application, _server);
        DashboardRoutes.Map(application, new ServerSubject(_server, _history.Samples), new ServerVisitors(_server), _server.Source?.Store);
        return application;
    }

    private async Task StartAsync()
    {
        try
        {
            await _application.StartAsync().ConfigureAwait(false);
        }
#pragma warning disable CA1031 // The server continues to serve the cache without the dashboard.
        catch (Exception e)
#pragma warning restore CA1031
        {
            _server.Logger.Write(LogLevel.Error, $"HTTP cannot be served: {e.Message}");
            _sockets.End();
        }
    }
}
