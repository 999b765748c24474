using System.ComponentModel;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;
using Microsoft.Net.Http.Headers;

namespace Cairn.Caching.AspNetCore.HybridOutput;

// A finished response of an endpoint: status 200, the headers that the endpoint set, and the body. Nothing of it changes, so all requests are given
// the same object. The headers that nearly every response has are set without a look into the list of the others.

/// <summary>A response that is kept, and how it is sent.</summary>
[ImmutableObject(true)]
internal sealed class KeptResponse(
    string? contentType, string entityTag, KeyValuePair<string, string?[]>[] others, byte[] body, long createdSeconds, bool isAnsweredEarly)
{
    private const string AgeHeaders = "Cache-Control Expires";

    private readonly bool _hasAge = Array.Exists(others, header => AgeHeaders.Contains(header.Key, StringComparison.OrdinalIgnoreCase));

    public string? ContentType => contentType;

    /// <summary>With quotes, and W/ before them if it is a weak one.</summary>
    public string EntityTag => entityTag;

    /// <summary>Headers besides those that are properties here.</summary>
    public IReadOnlyList<KeyValuePair<string, string?[]>> Others => others;

    public ReadOnlyMemory<byte> Body => body;

    /// <summary>When it was made, in seconds since 1970.</summary>
    public long CreatedSeconds => createdSeconds;

    /// <summary>Whether it may be sent before it is known which endpoint the request is for.</summary>
    public bool IsAnsweredEarly => isAnsweredEarly;

    /// <summary>Sends it, or that the client has it already.</summary>
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
            // Who is told how long a response is good for must know how old it is (RFC 9111, section 5.1).
            headers.Age = HeaderUtilities.FormatNonNegativeInt64(Math.Max(0, clock.GetUtcNow().ToUnixTimeSeconds() - createdSeconds));
        }
    }

    // RFC 9110, section 13.2.2: a client that names entity tags is not asked for dates.
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
