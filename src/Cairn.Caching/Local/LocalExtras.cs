using Microsoft.Extensions.Primitives;

namespace Cairn.Caching.Local;

/// <summary>What only some entries of the first level have.</summary>
internal sealed class LocalExtras(long freshUntil)
{
    /// <summary>How long it lives without being read, in milliseconds; 0 if that does not matter.</summary>
    public long SlidingMs { get; init; }

    /// <summary>The entry's; see there.</summary>
    public long FreshUntil = freshUntil;

    /// <summary>How far sliding can extend it, on the cache's clock.</summary>
    public long FreshAtMost { get; init; } = long.MaxValue;

    /// <summary>The moment from which a hit starts a refresh ahead of time; <see cref="long.MaxValue"/> for never.</summary>
    public long EagerAt { get; init; } = long.MaxValue;

    public string? ETag { get; init; }

    public DateTimeOffset? LastModified { get; init; }

    /// <summary>What it depends on; null for nothing.</summary>
    public IReadOnlyList<IChangeToken>? Tokens { get; init; }
}
