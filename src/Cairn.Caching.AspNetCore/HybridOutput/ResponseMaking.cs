using System.Security.Cryptography;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.Primitives;
using Microsoft.Net.Http.Headers;

namespace Cairn.Caching.AspNetCore.HybridOutput;

/// <summary>One run of an endpoint. Its response is either kept for all requests, or sent to this request's client and not kept.</summary>
internal sealed class ResponseMaking(HttpContext context, RequestDelegate endpoint, ResponsePolicy policy, TimeProvider clock) : ICairnHybridOutputFeature
{
    private const int EntityTagBytes = 16;

    // Headers of a connection or a message rather than of the content (RFC 9110, section 7.6.1), and headers that each response
    // sets again.
    private static readonly HashSet<string> s_notKept = new(StringComparer.OrdinalIgnoreCase)
    {
        HeaderNames.Connection, HeaderNames.KeepAlive, HeaderNames.ProxyAuthenticate, HeaderNames.ProxyConnection, HeaderNames.TE, HeaderNames.Trailer,
        HeaderNames.TransferEncoding, HeaderNames.Upgrade, HeaderNames.Date, HeaderNames.Server, HeaderNames.Age, HeaderNames.ContentLength,
        HeaderNames.ContentType, HeaderNames.ETag,
    };

    private CacheFactoryContext<KeptResponse?>? _entry;

    /// <summary>Gets a value that says whether the response was already sent to the client.</summary>
    public bool IsAnswered { get; private set; }

    public void AddTag(string tag) => _entry?.AddTag(tag);

    public void DoNotCache() => _entry?.DoNotCache();

    public async ValueTask<KeptResponse?> RunAsync(CacheFactoryContext<KeptResponse?> entry, CancellationToken stopping)
    {
        _entry = entry;
        IFeatureCollection features = context.Features;
        IHttpResponseBodyFeature target = features.GetRequiredFeature<IHttpResponseBodyFeature>();
        IHeaderDictionary asked = context.Request.Headers;
        (StringValues noneMatch, StringValues modifiedSince, CancellationToken aborted) = (asked.IfNoneMatch, asked.IfModifiedSince, context.RequestAborted);
        KeyValuePair<string, StringValues>[] before = [.. context.Response.Headers];
        var recording = new ResponseRecording(target, policy.MaxBodyBytes);
        var body = new RecordingBodyFeature(recording, target);
        features.Set<IHttpResponseBodyFeature>(body);
        features.Set<ICairnHybridOutputFeature>(this);

        // The endpoint must make the whole response, even if this client already has it or disconnects.
        asked.IfNoneMatch = default;
        asked.IfModifiedSince = default;
        context.RequestAborted = stopping;
        try
        {
            await endpoint(context).ConfigureAwait(false);
            await body.CompleteAsync().ConfigureAwait(false); // Flushes the bytes that the pipe writer still holds.
            if (!recording.IsPassing && entry.IsCached && policy.MayKeep(context.Response, recording.Written.Length))
            {
                return Keep(entry, recording.Written, before);
            }

            entry.DoNotCache();
            IsAnswered = true;
            await recording.PassAsync(aborted).ConfigureAwait(false);
            return null;
        }
        finally
        {
            asked.IfNoneMatch = noneMatch;
            asked.IfModifiedSince = modifiedSince;
            context.RequestAborted = aborted;
            features.Set(target);
            features.Set<ICairnHybridOutputFeature>(null);
            recording.Release();
            _entry = null;
        }
    }

    private KeptResponse Keep(CacheFactoryContext<KeptResponse?> entry, ReadOnlySpan<byte> body, KeyValuePair<string, StringValues>[] before)
    {
        IHeaderDictionary headers = context.Response.Headers;
        var others = new List<KeyValuePair<string, string?[]>>();
        foreach ((string name, StringValues values) in headers)
        {
            // Headers set before the endpoint belong to this request. The same middleware sets them again for the next one.
            if (!s_notKept.Contains(name) && Array.IndexOf(before, new(name, values)) < 0)
            {
                others.Add(new(name, values.ToArray()));
            }
        }

        string entityTag = headers.ETag.Count == 1 ? headers.ETag.ToString() : EntityTagOf(body);
        var kept = new KeptResponse(
            headers.ContentType.Count == 0 ? null : headers.ContentType.ToString(), entityTag, [.. others], body.ToArray(),
            clock.GetUtcNow().ToUnixTimeSeconds(), policy.IsAnsweredEarly);
        entry.Options = entry.Options with { LocalBytes = BytesOf(entry.Key, kept) };
        return kept;
    }

    // The tag is weak, so that middleware that compresses responses leaves it unchanged.
    private static string EntityTagOf(ReadOnlySpan<byte> body)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(body, hash);
        return $"W/\"{Convert.ToBase64String(hash[..EntityTagBytes]).TrimEnd('=')}\"";
    }

    // Estimates the objects that hold a response in the first level. A character of a text takes two bytes.
    private static long BytesOf(string key, KeptResponse kept)
    {
        const int Objects = 400;
        const int BytesOfCharacter = 2;
        long characters = key.Length + kept.EntityTag.Length + (kept.ContentType?.Length ?? 0);
        foreach ((string name, string?[] values) in kept.Others)
        {
            characters += name.Length + values.Sum(value => value?.Length ?? 0);
        }

        return Objects + (BytesOfCharacter * characters) + kept.Body.Length;
    }
}
