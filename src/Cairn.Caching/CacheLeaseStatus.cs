namespace Cairn.Caching;

/// <summary>The result of an operation of <see cref="ICacheLeases"/>. Any other value counts as an error.</summary>
public enum CacheLeaseStatus
{
    /// <summary>The implementation does not support the operation. Only <see cref="ICacheLeases.TrySetAsync"/> may return it.</summary>
    NotSupported = 0,

    /// <summary>The caller owns the lease.</summary>
    Acquired,

    /// <summary>The caller does not own the lease: another owner has it, or it has ended.</summary>
    Held,

    /// <summary>The key has a value now. No lease was granted.</summary>
    HasValue,
}
