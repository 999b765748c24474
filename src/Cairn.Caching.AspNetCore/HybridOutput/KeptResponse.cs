using System.ComponentModel;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;
using Microsoft.Net.Http.Headers;

namespace Cairn.Caching.AspNetCore.HybridOutput;

// A finished response of an endpoint: status 200, the headers that the endpoint set, and the body. It is immutable, so all requests share
// one object. The most frequent headers are properties, so that sending them needs no search in the list of the others.

/// <summary>A kept response, which can send itself.</summary>
[ImmutableObject(true)]
internal sealed class KeptResponse(
    string? contentType, string entityTag, KeyValuePair<string, string?[]>[] others, byte[] body, long createdSeconds, bool isAnsweredEarly)
{
    private const string AgeHeaders = "Cache-Control Expires";

    private readonly bool _hasAge = Array.Exists(others, header => AgeHeaders.Contains(header.Key, StringComparison.OrdinalIgnoreCase));

    public string? ContentType => contentType;

    /// <summary>Gets the entity tag with its quotes, and with W/ before them if it is weak.</summary>
    public string EntityTag => entityTag;

    /// <summary>Gets the headers that are not properties of this class.</summary>
    public IReadOnlyList<KeyValuePair<string, string?[]>> Others => others;

    public ReadOnlyMemory<byte> Body => body;

    /// <summary>Gets the time at which the response was made, in seconds since 1970.</summary>
    public long CreatedSeconds => createdSeconds;

    /// <summary>Gets a value that says whether the response may be sent before routing has selected an endpoint.</summary>
    public bool IsAnsweredEarly => isAnsweredEarly;

    /// <summary>Sends the response, or status 304 if the client already has it.</summary>
    public Task SendAsync(HttpContext context, TimeProvider clock)
    {
        HttpResponse response = context.Response;
        IHeaderDictionary headers = response.Headers;
        headers.ETag = entityTag;
        if (others.Length > 0)
        {
            SetOthers(headers, clock);
        }

        if (IsHeldBy(context.Request.Headers))
        {
            response.StatusCode = StatusCodes.Status304NotModified;
            return Task.CompletedTask;
        }

        if (contentType is not null)
        {
            headers.ContentType = contentType;
        }

        headers.ContentLength = body.Length;
        return HttpMethods.IsHead(context.Request.Method) ? Task.CompletedTask : SendBodyAsync(response);
    }

    private Task SendBodyAsync(HttpResponse response)
    {
        ValueTask<System.IO.Pipelines.FlushResult> writing = response.BodyWriter.WriteAsync(body, CancellationToken.None);
        return writing.IsCompletedSuccessfully ? Task.CompletedTask : writing.AsTask();
    }

    private void SetOthers(IHeaderDictionary headers, TimeProvider clock)
    {
        foreach ((string name, string?[] values) in others)
        {
            headers[name] = new StringValues(values);
        }

        if (_hasAge)
        {
            // A response with a freshness lifetime needs its age (RFC 9111, section 5.1).
            headers.Age = HeaderUtilities.FormatNonNegativeInt64(Math.Max(0, clock.GetUtcNow().ToUnixTimeSeconds() - createdSeconds));
        }
    }

    // RFC 9110, section 13.2.2: if the client sends entity tags, its dates are ignored.
    private bool IsHeldBy(IHeaderDictionary request)
    {
        StringValues noneMatch = request.IfNoneMatch;
        if (noneMatch.Count > 0)
        {
            return EntityTagHeaderValue.TryParseList(noneMatch, out IList<EntityTagHeaderValue>? tags)
                && EntityTagHeaderValue.TryParse(entityTag, out EntityTagHeaderValue? own)
                && tags.Any(tag => tag.Equals(EntityTagHeaderValue.Any) || tag.Compare(own, useStrongComparison: false));
        }

        StringValues since = request.IfModifiedSince;
        return since.Count == 1
            && HeaderUtilities.TryParseDate(since[0], out DateTimeOffset known)
            && Array.Find(others, header => header.Key.Equals(HeaderNames.LastModified, StringComparison.OrdinalIgnoreCase)).Value is [{ } text]
            && HeaderUtilities.TryParseDate(text, out DateTimeOffset modified)
            && modified <= known;
    }
}
