namespace Cairn.Caching;

/// <summary>What <see cref="ICacheLeases"/> answers. Anything else than these values counts as an error.</summary>
public enum CacheLeaseStatus
{
    /// <summary>This cannot be done here. Only <see cref="ICacheLeases.TrySetAsync"/> may answer so.</summary>
    NotSupported = 0,

    /// <summary>The lease is the owner's.</summary>
    Acquired,

    /// <summary>The lease is not the owner's: another has it, or it has ended.</summary>
    Held,

    /// <summary>The key has a value by now. No lease was given.</summary>
    HasValue,
}
