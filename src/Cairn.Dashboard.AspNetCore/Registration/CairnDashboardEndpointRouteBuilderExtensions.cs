using Cairn.Caching.Registration;
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
    /// <summary>
    /// Maps the dashboard of all registered hybrid caches. It shows both levels, prevented stampedes, stale values and invalidations.
    /// </summary>
    /// <param name="endpoints">The route builder.</param>
    /// <param name="pattern">The path. Default /cairn.</param>
    /// <returns>A builder for conventions, such as RequireAuthorization.</returns>
    /// <remarks>
    /// By default, the dashboard answers only requests from this machine that did not pass through a proxy. Conventions change this:
    /// RequireAuthorization for some users, AllowAnonymous for all. The dashboard is read-only. It samples the caches every five seconds
    /// while no page is open.
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
