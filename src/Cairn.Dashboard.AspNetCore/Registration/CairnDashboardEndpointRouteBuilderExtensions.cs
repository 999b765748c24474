using System.Diagnostics.CodeAnalysis;
using Cairn.Caching.Composition;
using Cairn.Dashboard.AspNetCore.Showing;
using Cairn.Dashboard.Pages.Web;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Maps the dashboard of an application's caches.</summary>
public static class CairnDashboardEndpointRouteBuilderExtensions
{
    /// <summary>Maps the dashboard of every hybrid cache that is registered: both levels, stampedes prevented, stale values, invalidations.</summary>
    /// <param name="endpoints">Where to.</param>
    /// <param name="pattern">The path. Default /cairn.</param>
    /// <returns>For conventions, such as RequireAuthorization.</returns>
    /// <remarks>
    /// Unless the conventions say who may look (RequireAuthorization, or AllowAnonymous for everybody), only requests from this machine are
    /// answered, and none that came through a proxy. It changes nothing, and looks at the caches once in five seconds while nobody looks at it.
    /// </remarks>
    public static IEndpointConventionBuilder MapCairnDashboard(
        this IEndpointRouteBuilder endpoints, [StringSyntax("Route")] string pattern = "/cairn")
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ArgumentException.ThrowIfNullOrEmpty(pattern);
        IServiceProvider services = endpoints.ServiceProvider;
        ILogger logger = (services.GetService<ILoggerFactory>() ?? Logging.Abstractions.NullLoggerFactory.Instance).CreateLogger("Cairn.Dashboard");
        var subject = new CachesSubject(
            services.GetService<IHostEnvironment>()?.ApplicationName ?? "",
            [.. services.GetServices<RegisteredCache>().DistinctBy(cache => cache.Name, StringComparer.Ordinal).Select(cache => new ShownCache(cache.Name, () => cache.Resolve(services)))],
            logger);
        services.GetService<IHostApplicationLifetime>()?.ApplicationStopping.Register(subject.Dispose);
        RouteGroupBuilder group = endpoints.MapGroup(pattern);
        DashboardRoutes.Map(group, subject, new ApplicationVisitors(), store: null);
        return group;
    }
}
