using Cairn.Caching;
using Cairn.Caching.AspNetCore;
using Cairn.Caching.AspNetCore.HybridOutput;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Keeps whole responses of endpoints in the hybrid cache.</summary>
public static class CairnHybridOutputBuilderExtensions
{
    /// <summary>Lets responses be kept in the hybrid cache, in all its levels.</summary>
    /// <param name="builder">The cache, which must be the one without a key.</param>
    /// <returns>The builder.</returns>
    public static ICairnHybridCacheBuilder AddHybridOutput(this ICairnHybridCacheBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.TryAddSingleton<IHybridCacheSerializer<KeptResponse>, KeptResponseSerializer>();
        return builder;
    }

    /// <summary>
    /// Keeps the responses of an endpoint, or of a group of them, in the hybrid cache. However many ask for one that is not there, the endpoint
    /// runs once, in all processes that share a second level with leases.
    /// </summary>
    /// <typeparam name="TBuilder">The kind of endpoint.</typeparam>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="configure">Sets how its responses are kept; null for the defaults.</param>
    /// <returns>The endpoint.</returns>
    /// <exception cref="ArgumentException">An option is out of its range.</exception>
    /// <exception cref="InvalidOperationException">When the endpoint is built: <see cref="AddHybridOutput"/> was not called.</exception>
    /// <remarks>
    /// Kept are responses to GET with status 200, without Set-Cookie, without a Cache-Control that says private, no-store or no-cache, and without a Vary that
    /// names more than the options do, if the request had no Authorization and its user is not authenticated. HEAD is answered with what
    /// is kept for GET.
    /// </remarks>
    public static TBuilder CacheOutputInHybrid<TBuilder>(this TBuilder endpoint, Action<HybridOutputOptions>? configure = null)
        where TBuilder : IEndpointConventionBuilder
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        var options = new HybridOutputOptions();
        configure?.Invoke(options);
        var policy = new ResponsePolicy(options);
        endpoint.Finally(built =>
        {
            if (built.RequestDelegate is { } run)
            {
                IServiceProvider services = built.ApplicationServices;
                built.RequestDelegate = new CachedEndpoint(run, policy.For(built.Metadata), CacheOf(services), ClockOf(services)).InvokeAsync;
            }
        });
        return endpoint;
    }

    /// <summary>
    /// Answers here, before routing, each request whose response is kept and depends on nothing but its path: what stands behind this is not run for it.
    /// Put it before UseRouting, and what has to see every request before it.
    /// </summary>
    /// <param name="application">The application.</param>
    /// <returns>The application.</returns>
    /// <exception cref="InvalidOperationException"><see cref="AddHybridOutput"/> was not called.</exception>
    /// <remarks>
    /// Endpoints with metadata of authorization, CORS or rate limiting are not answered here, nor those with
    /// <see cref="HybridOutputOptions.VaryByHost"/>, headers or a <see cref="HybridOutputOptions.VaryBy"/>, nor requests with a query. Everything works
    /// without it, at the price of a few more steps to the endpoint.
    /// </remarks>
    public static IApplicationBuilder UseHybridOutput(this IApplicationBuilder application)
    {
        ArgumentNullException.ThrowIfNull(application);
        CairnHybridCache cache = CacheOf(application.ApplicationServices);
        TimeProvider clock = ClockOf(application.ApplicationServices);
        return application.Use(next => new EarlyAnswer(next, cache, clock).InvokeAsync);
    }

    private static CairnHybridCache CacheOf(IServiceProvider services) =>
        services.GetService<IHybridCacheSerializer<KeptResponse>>() is not null && services.GetService<CairnHybridCache>() is { } cache
            ? cache
            : throw new InvalidOperationException(
                $"There is no cache for responses. Call services.AddCairnHybridCache().{nameof(AddHybridOutput)}() when the application is built.");

    private static TimeProvider ClockOf(IServiceProvider services) => services.GetService<TimeProvider>() ?? TimeProvider.System;
}
