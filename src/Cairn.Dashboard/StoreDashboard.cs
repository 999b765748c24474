using System.Buffers.Text;
using System.Net;
using System.Security.Cryptography;
using Cairn.Dashboard.Hosting;
using Cairn.Dashboard.Pages.Reports;
using Cairn.Dashboard.Pages.Web;
using Cairn.Dashboard.Serving;
using Cairn.Server.Logging;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Cairn.Dashboard;

/// <summary>
/// Shows a store file in a browser on this machine, without a server. The address contains a secret. So other users of the machine, who may
/// not read the file, cannot open the dashboard.
/// </summary>
public sealed class StoreDashboard : IAsyncDisposable
{
    private const int SecretBytes = 24;

    private readonly StoreSubject _subject;
    private readonly WebApplication _application;

    private StoreDashboard(StoreSubject subject, WebApplication application, Uri address)
    {
        _subject = subject;
        _application = application;
        Address = address;
    }

    /// <summary>Gets the address to open in a browser, including the secret.</summary>
    public Uri Address { get; }

    /// <summary>Begins to show a store.</summary>
    /// <param name="store">The store, which must stay open until the dashboard is disposed of.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <exception cref="IOException">The port is in use.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The port is out of range.</exception>
    public static async Task<StoreDashboard> StartAsync(CairnStore store, StoreDashboardOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(store);
        options ??= new StoreDashboardOptions();
        ArgumentOutOfRangeException.ThrowIfNegative(options.Port, nameof(options));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(options.Port, IPEndPoint.MaxPort, nameof(options));
        string secret = Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(SecretBytes));
        var subject = new StoreSubject(store, options.TimeProvider, message => options.Logger?.Write(LogLevel.Error, message));
        WebApplicationBuilder builder = WebHosts.CreateBuilder(kestrel => WebHosts.Listen(kestrel, new IPEndPoint(IPAddress.Loopback, options.Port)));
        builder.WebHost.UseSockets();
        WebApplication application = WebHosts.Build(builder);
        try
        {
            application.UseRouting();
            DashboardRoutes.Map(application, subject, new StoreVisitors(secret, options.IsReadOnly), store);
            await application.StartAsync().ConfigureAwait(false);
        }
        catch
        {
            subject.Dispose();
            await application.DisposeAsync().ConfigureAwait(false);
            throw;
        }

        string place = application.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single();
        return new StoreDashboard(subject, application, new Uri($"{place}/#open={secret}"));
    }

    /// <summary>Stops showing the store.</summary>
    public async ValueTask DisposeAsync()
    {
        _subject.Dispose();
        await _application.DisposeAsync().ConfigureAwait(false);
    }
}
