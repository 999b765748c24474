namespace Cairn.Caching.Local;

/// <summary>What only some entries of the first level have.</summary>
internal sealed class LocalExtras
{
    /// <summary>How long it lives without being read, in milliseconds; 0 if that does not matter.</summary>
    public long SlidingMs { get; init; }

    /// <summary>The moment from which a hit starts a refresh ahead of time; <see cref="long.MaxValue"/> for never.</summary>
    public long EagerAt { get; init; } = long.MaxValue;

    public string? ETag { get; init; }

    public DateTimeOffset? LastModified { get; init; }

    /// <summary>Registrations with change tokens, given back when the entry goes.</summary>
    public IDisposable[]? Dependencies { get; init; }

    /// <summary>1 once a refresh ahead of time or a slide is under way.</summary>
    public int IsRefreshing;
}
