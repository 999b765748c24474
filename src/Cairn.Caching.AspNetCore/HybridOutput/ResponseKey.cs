using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;

namespace Cairn.Caching.AspNetCore.HybridOutput;

// The keys of responses in the hybrid cache.
//
//   /api/books/42                                  the path, if nothing else of the request matters
//   ~5:http:9:shop:5080|13:/api/books/42|...       otherwise: each part with its length before it, so that no request can
//                                                  imitate the parts of another one
// A key from a request may be too long for the hybrid cache, or have control characters. Then the endpoint makes the response for this
// request alone.
internal static class ResponseKey
{
    /// <summary>Returns the key of a response that depends only on the path. It is not a prefix of any other kind of key.</summary>
    public static string? OfPath(HttpRequest request) =>
        request.PathBase.HasValue ? request.PathBase.Value + request.Path.Value : request.Path.Value;

    /// <summary>Returns the key of the response to a request, or null if the response is not kept.</summary>
    public static string? Of(HttpContext context, ResponsePolicy policy)
    {
        HttpRequest request = context.Request;
        string? path = OfPath(request);
        bool hasQuery = policy.Query is null ? request.QueryString.HasValue : policy.Query.Length > 0;
        if (!hasQuery && !policy.VariesBeyondQuery)
        {
            return path;
        }

        var key = new StringBuilder("~");
        if (policy.VaryByHost)
        {
            Append(key, request.Scheme);
            Append(key, request.Host.Value ?? "");
        }

        key.Append('|');
        Append(key, path ?? "");
        if (policy.Query is null)
        {
            Append(key, request.QueryString.Value ?? "");
        }
        else
        {
            foreach (string name in policy.Query)
            {
                Append(key, request.Query[name]);
            }
        }

        foreach (string name in policy.Headers)
        {
            Append(key, request.Headers[name]);
        }

        if (policy.VaryBy is { } varyBy)
        {
            if (varyBy(context) is not { } value)
            {
                return null;
            }

            Append(key, value);
        }

        return key.ToString();
    }

    private static void Append(StringBuilder key, StringValues values)
    {
        key.Append(CultureInfo.InvariantCulture, $"|{values.Count}");
        foreach (string? value in values)
        {
            key.Append(',');
            Append(key, value ?? "");
        }
    }

    private static void Append(StringBuilder key, string text) => key.Append(CultureInfo.InvariantCulture, $"{text.Length}:").Append(text);
}
