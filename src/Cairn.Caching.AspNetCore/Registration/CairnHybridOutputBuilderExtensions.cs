using Cairn.Caching;
using Cairn.Caching.AspNetCore;
using Cairn.Caching.AspNetCore.HybridOutput;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers and applies the caching of whole responses in the hybrid cache.</summary>
public static class CairnHybridOutputBuilderExtensions
{
    /// <summary>Allows the hybrid cache to keep responses, in all its levels.</summary>
    /// <param name="builder">The builder of the cache that is registered without a key.</param>
    /// <returns>The builder.</returns>
    public static ICairnHybridCacheBuilder AddHybridOutput(this ICairnHybridCacheBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.TryAddSingleton<IHybridCacheSerializer<KeptResponse>, KeptResponseSerializer>();
        return builder;
    }

    /// <summary>
    /// Keeps the responses of an endpoint, or of a group of endpoints, in the hybrid cache. When several requests miss the same response,
    /// the endpoint runs once, also across all processes that share a second level with leases.
    /// </summary>
    /// <typeparam name="TBuilder">The type of the endpoint builder.</typeparam>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="configure">Sets the options; null for the defaults.</param>
    /// <returns>The endpoint.</returns>
    /// <exception cref="ArgumentException">An option is out of its range.</exception>
    /// <exception cref="InvalidOperationException"><see cref="AddHybridOutput"/> was not called; thrown when the endpoint is built.</exception>
    /// <remarks>
    /// A response is kept if it answers a GET with status 200, has no Set-Cookie, its Cache-Control does not contain private, no-store or
    /// no-cache, and its Vary names only headers of the options. The request must have no Authorization header and no authenticated user. A
    /// HEAD request is answered with the response kept for GET.
    /// </remarks>
    public static TBuilder CacheOutputInCairnHybrid<TBuilder>(this TBuilder endpoint, Action<CairnHybridOutputOptions>? configure = null)
        where TBuilder : IEndpointConventionBuilder
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        var options = new CairnHybridOutputOptions();
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
    /// Answers requests before routing, if their response is kept and depends only on the path. Later middleware does not run for such a
    /// request. Call this before UseRouting, and after all middleware that must see every request.
    /// </summary>
    /// <param name="application">The application.</param>
    /// <returns>The application.</returns>
    /// <exception cref="InvalidOperationException"><see cref="AddHybridOutput"/> was not called.</exception>
    /// <remarks>
    /// Not answered here are requests with a query, endpoints with metadata of authorization, CORS or rate limiting, and endpoints with
    /// <see cref="CairnHybridOutputOptions.VaryByHost"/>, headers or a <see cref="CairnHybridOutputOptions.VaryBy"/>. Caching also works without this
    /// call; a kept response then takes a few more steps.
    /// </remarks>
    public static IApplicationBuilder UseCairnHybridOutput(this IApplicationBuilder application)
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
