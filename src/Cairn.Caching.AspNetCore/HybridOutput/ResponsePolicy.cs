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

/// <summary>The options of an endpoint as they are used: checked, and never changed again.</summary>
internal sealed record ResponsePolicy
{
    public ResponsePolicy(HybridOutputOptions options)
    {
        if (options.Expiration is { } expiration)
        {
            ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(expiration, TimeSpan.Zero, nameof(options.Expiration));
        }

        ArgumentOutOfRangeException.ThrowIfNegative(options.MaximumBodyBytes, nameof(options.MaximumBodyBytes));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(options.MaximumBodyBytes, HybridOutputOptions.LargestBodyBytes, nameof(options.MaximumBodyBytes));
        foreach (string tag in options.Tags)
        {
            TagNames.Check(tag);
        }

        Tags = options.Tags.Count == 0 ? null : [.. options.Tags];
        Query = options.VaryByQuery is null ? null : [.. options.VaryByQuery];
        Headers = [.. options.VaryByHeader];
        VaryBy = options.VaryBy;
        MaximumBodyBytes = options.MaximumBodyBytes;
        VaryByHost = options.VaryByHost;

        // The endpoint runs within the request that asks for it, so nothing may run it at another time, or leave it alone half-way.
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

    public int MaximumBodyBytes { get; }

    public bool IsAnsweredEarly { get; private init; } = true;

    public CairnEntryOptions Entry { get; }

    /// <summary>Whether anything but path and query makes a response another one.</summary>
    public bool VariesBeyondQuery => VaryByHost || Headers.Length > 0 || VaryBy is not null;

    /// <summary>The policy of an endpoint with this metadata.</summary>
    public ResponsePolicy For(IList<object> metadata) => this with
    {
        // Another endpoint may have the same path under another name.
        VaryByHost = VaryByHost || metadata.Any(item => item is IHostMetadata { Hosts.Count: > 0 }),

        // What has to look at each request stands between routing and the endpoint.
        IsAnsweredEarly = !metadata.Any(item => item is IAuthorizeData or ICorsMetadata or EnableRateLimitingAttribute),
    };

    /// <summary>Whether the response to a request may come from the cache, and go there. Nobody who says who they are is given what others have.</summary>
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

    /// <summary>Whether a response that was made may be kept for others.</summary>
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

    // By the feature: HttpContext.User makes an anonymous user for who has none.
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
