using Cairn.Caching.Tagging;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Cors.Infrastructure;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features.Authentication;
using Microsoft.AspNetCore.RateLimiting;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Caching.Hybrid;
using Microsoft.Net.Http.Headers;

namespace Cairn.Caching.AspNetCore.HybridOutput;

/// <summary>The checked and immutable options of an endpoint.</summary>
internal sealed record ResponsePolicy
{
    public ResponsePolicy(CairnHybridOutputOptions options)
    {
        if (options.Expiration is { } expiration)
        {
            ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(expiration, TimeSpan.Zero, nameof(options.Expiration));
        }

        ArgumentOutOfRangeException.ThrowIfNegative(options.MaxBodyBytes, nameof(options.MaxBodyBytes));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(options.MaxBodyBytes, CairnHybridOutputOptions.LargestBodyBytes, nameof(options.MaxBodyBytes));
        foreach (string tag in options.Tags)
        {
            TagNames.Check(tag, nameof(CairnHybridOutputOptions.Tags));
        }

        Tags = options.Tags.Count == 0 ? null : [.. options.Tags];
        Query = options.VaryByQuery is null ? null : [.. options.VaryByQuery];
        Headers = [.. options.VaryByHeader];
        VaryBy = options.VaryBy;
        MaxBodyBytes = options.MaxBodyBytes;
        VaryByHost = options.VaryByHost;

        // The endpoint runs within the request, so it must not run at another time, and the request must wait until it has ended.
        Entry = new CairnEntryOptions
        {
            Expiration = options.Expiration,
            Flags = HybridCacheEntryFlags.None,
            SlidingExpiration = TimeSpan.Zero,
            FailSafe = TimeSpan.Zero,
            FactorySoftTimeout = Timeout.InfiniteTimeSpan,
            FactoryHardTimeout = Timeout.InfiniteTimeSpan,
            EagerRefreshThreshold = 0,
            StaleWhileRevalidate = TimeSpan.Zero,
            ShareLocalValue = true,
        };
    }

    public string[]? Tags { get; }

    public string[]? Query { get; }

    public string[] Headers { get; }

    public Func<HttpContext, string?>? VaryBy { get; }

    public bool VaryByHost { get; private init; }

    public int MaxBodyBytes { get; }

    public bool IsAnsweredEarly { get; private init; } = true;

    public CairnEntryOptions Entry { get; }

    /// <summary>Gets a value that says whether anything other than path and query selects a response.</summary>
    public bool VariesBeyondQuery => VaryByHost || Headers.Length > 0 || VaryBy is not null;

    /// <summary>Returns the policy of an endpoint with this metadata.</summary>
    public ResponsePolicy For(IList<object> metadata) => this with
    {
        // Another endpoint may have the same path under another host name.
        VaryByHost = VaryByHost || metadata.Any(item => item is IHostMetadata { Hosts.Count: > 0 }),

        // Middleware between routing and the endpoint must check each of these requests.
        IsAnsweredEarly = !metadata.Any(item => item is IAuthorizeData or ICorsMetadata or EnableRateLimitingAttribute),
    };

    /// <summary>
    /// Returns whether the cache may serve and keep the response to a request. A request with credentials never receives a shared
    /// response.
    /// </summary>
    public static bool IsForAll(HttpContext context)
    {
        IHeaderDictionary headers = context.Request.Headers;
        return headers.Authorization.Count == 0
            && headers.Range.Count == 0
            && headers.IfMatch.Count == 0
            && headers.IfUnmodifiedSince.Count == 0
            && headers.Upgrade.Count == 0
            && !IsAuthenticated(context);
    }

    /// <summary>Returns whether a finished response may be kept for other requests.</summary>
    public bool MayKeep(HttpResponse response, long bodyBytes)
    {
        IHeaderDictionary headers = response.Headers;
        return response.StatusCode == StatusCodes.Status200OK
            && headers.SetCookie.Count == 0
            && headers.ContentRange.Count == 0
            && (headers.ContentLength is not { } length || length == bodyBytes)
            && IsPublic(headers)
            && VariesAsSaid(headers)
            && !IsAuthenticated(response.HttpContext);
    }

    // Reads the feature, because HttpContext.User creates an anonymous user if there is none.
    private static bool IsAuthenticated(HttpContext context) =>
        context.Features.Get<IHttpAuthenticationFeature>()?.User?.Identity?.IsAuthenticated == true;

    private static bool IsPublic(IHeaderDictionary headers) =>
        headers.CacheControl.Count == 0
        || (CacheControlHeaderValue.TryParse(headers.CacheControl.ToString(), out CacheControlHeaderValue? control)
            && !control.NoStore && !control.NoCache && !control.Private);

    private bool VariesAsSaid(IHeaderDictionary headers)
    {
        foreach (string? line in headers.Vary)
        {
            foreach (string name in (line ?? "").Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
            {
                if (!Headers.Contains(name, StringComparer.OrdinalIgnoreCase))
                {
                    return false;
                }
            }
        }

        return true;
    }
}
