using Microsoft.AspNetCore.Http;

namespace Cairn.Caching.AspNetCore;

/// <summary>
/// Options for keeping the responses of an endpoint in the hybrid cache. They are read and checked once, when the endpoint is mapped.
/// </summary>
public sealed class CairnHybridOutputOptions
{
    /// <summary>The time to live of a response, above zero. Default null: the cache's own default applies.</summary>
    public TimeSpan? Expiration { get; set; }

    /// <summary>
    /// The tags of all responses of the endpoint; not empty, and not <c>*</c>. Invalidating a tag removes its responses. The endpoint adds
    /// tags that depend on the request or on its result with <see cref="ICairnHybridOutputFeature.AddTag"/>. Default none.
    /// </summary>
    public IList<string> Tags { get; } = [];

    /// <summary>
    /// The names of the query parameters that select a response, not case-sensitive. Other parameters are ignored. Empty: the query is
    /// ignored. Default null: the whole query, exactly as the client sent it, selects the response.
    /// </summary>
    public IReadOnlyList<string>? VaryByQuery { get; set; }

    /// <summary>
    /// The names of the request headers that select a response. Default none. A response whose Vary header names another header is not
    /// kept.
    /// </summary>
    public IList<string> VaryByHeader { get; } = [];

    /// <summary>
    /// True if each scheme, host name and port has its own responses. Default true, because an endpoint may write the host name of the
    /// request into a response, and a client may send any name. Processes that listen on different ports share responses only if this is
    /// false.
    /// </summary>
    public bool VaryByHost { get; set; } = true;

    /// <summary>
    /// Returns an additional text that selects a response, or null if the response to this request is not kept. It runs for each request,
    /// so it should be fast. Default null: no additional text.
    /// </summary>
    public Func<HttpContext, string?>? VaryBy { get; set; }

    /// <summary>
    /// The largest body in bytes that is kept, 0 to 64 MiB. A larger body is passed to the client while the endpoint writes it. Default 1
    /// MiB less 16 KiB: with its headers, such a response fits into the hybrid cache's limit for values in the second level.
    /// </summary>
    public int MaxBodyBytes { get; set; } = DefaultMaxBodyBytes;

    internal const int DefaultMaxBodyBytes = (1 << 20) - (16 << 10);

    internal const int LargestBodyBytes = 64 << 20;
}
