namespace Cairn.Caching.AspNetCore.Tagging;

/// <summary>The epoch in which a request began, stored as a feature of the request.</summary>
/// <param name="Begun">The epoch.</param>
/// <param name="IsApart">Whether the request has a cache key of its own. Its response is not stored (ResponsesBeingSent).</param>
internal sealed record RequestEpoch(Epoch Begun, bool IsApart);
