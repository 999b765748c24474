using Microsoft.AspNetCore.Http;

namespace Cairn.Caching.AspNetCore;

/// <summary>How the responses of an endpoint are kept in the hybrid cache. Read and checked once, when the endpoint is mapped.</summary>
public sealed class HybridOutputOptions
{
    /// <summary>How long a response is kept: above zero. Default null: as the cache's own default says.</summary>
    public TimeSpan? Expiration { get; set; }

    /// <summary>
    /// Tags of all responses of the endpoint, by which they are removed; not empty, and not <c>*</c>. What depends on the request or on what
    /// was found, the endpoint adds with <see cref="IHybridOutputFeature.AddTag"/>. Default none.
    /// </summary>
    public IList<string> Tags { get; } = [];

    /// <summary>
    /// The names of the parameters of the query that make a response another one, in any case of their letters; the others are ignored. Empty:
    /// the query does not matter. Default null: the whole query as it was sent.
    /// </summary>
    public IReadOnlyList<string>? VaryByQuery { get; set; }

    /// <summary>
    /// The names of the request's headers that make a response another one. Default none. A response that names another one in its Vary is not kept.
    /// </summary>
    public IList<string> VaryByHeader { get; } = [];

    /// <summary>
    /// True if each scheme, host name and port has responses of its own. Default true: an endpoint may write the name it was asked by into a
    /// response, and anybody can ask by any name. Processes that are asked by their own ports share only without it.
    /// </summary>
    public bool VaryByHost { get; set; } = true;

    /// <summary>
    /// Tells what else makes a response another one; null for a request whose response is not kept. Called for each request, so it should be fast.
    /// Default null: nothing does.
    /// </summary>
    public Func<HttpContext, string?>? VaryBy { get; set; }

    /// <summary>
    /// The longest body in bytes that is kept, 0 to 64 MiB. A longer one is passed on as it is made. Default 1 MiB less 16 KiB: with its headers it
    /// fits into what the hybrid cache sends to a second level.
    /// </summary>
    public int MaximumBodyBytes { get; set; } = DefaultMaximumBodyBytes;

    internal const int DefaultMaximumBodyBytes = (1 << 20) - (16 << 10);

    internal const int LargestBodyBytes = 64 << 20;
}
