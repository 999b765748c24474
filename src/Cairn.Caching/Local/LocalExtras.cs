using Microsoft.Extensions.Primitives;

namespace Cairn.Caching.Local;

/// <summary>The state that only some entries of the first level need.</summary>
internal sealed class LocalExtras(long freshUntil)
{
    /// <summary>The sliding expiration in milliseconds; 0 for none.</summary>
    public long SlidingMs { get; init; }

    /// <summary>The value of <see cref="LocalEntry.FreshUntil"/>.</summary>
    public long FreshUntil = freshUntil;

    /// <summary>The latest time to which sliding can extend the entry, on the cache's clock.</summary>
    public long FreshAtMost { get; init; } = long.MaxValue;

    /// <summary>The time from which a hit starts an eager refresh; <see cref="long.MaxValue"/> for never.</summary>
    public long EagerAt { get; init; } = long.MaxValue;

    public string? ETag { get; init; }

    public DateTimeOffset? LastModified { get; init; }

    /// <summary>The change tokens that the entry depends on; null for none.</summary>
    public IReadOnlyList<IChangeToken>? Tokens { get; init; }
}
