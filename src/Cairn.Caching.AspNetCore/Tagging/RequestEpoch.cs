namespace Cairn.Caching.AspNetCore.Tagging;

/// <summary>The epoch in which a request was begun, kept among the request's features.</summary>
internal sealed record RequestEpoch(Epoch Begun);
