using Cairn.Caching.Tagging;

namespace Cairn.Caching.Operations;

/// <summary>The facts about a value that its entry carries beside the times of its policy. The default has none.</summary>
/// <param name="Stamps">The tags with their stamps from before the value was created; null for none.</param>
/// <param name="ETag">The validator of the value at its source; null for none.</param>
/// <param name="LastModified">The last modification of the value at its source; null if unknown.</param>
internal readonly record struct EntryMetadata(TagStamps? Stamps, string? ETag, DateTimeOffset? LastModified);
