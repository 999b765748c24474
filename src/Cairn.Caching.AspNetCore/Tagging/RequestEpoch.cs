namespace Cairn.Caching.AspNetCore.Tagging;

/// <summary>The epoch in which a request began, stored as a feature of the request.</summary>
internal sealed record RequestEpoch(Epoch Begun);
