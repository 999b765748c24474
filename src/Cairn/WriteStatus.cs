namespace Cairn;

/// <summary>How a conditional write ended.</summary>
public enum WriteStatus
{
    /// <summary>Done: stored, changed or removed as asked.</summary>
    Stored = 0,

    /// <summary>Not done: the key has a value already.</summary>
    Exists,

    /// <summary>Not done: the key has no value.</summary>
    NotFound,

    /// <summary>Not done: the value was written since the version that was asked for.</summary>
    VersionMismatch,

    /// <summary>Not done: the lease was cancelled by another write, removal or clearing, or was taken over.</summary>
    LeaseLost,

    /// <summary>Not done: the value is not a decimal number of 64 bits.</summary>
    NotANumber,

    /// <summary>Not done: the result would not fit 64 bits.</summary>
    Overflow,

    /// <summary>Not done: the result would be longer than the store allows. The value is as it was.</summary>
    TooLarge,

    /// <summary>
    /// Not done: there was no room, because everything that could be evicted is pinned by readers, or there is nothing. If the operation replaces values
    /// unconditionally, the earlier value is gone. Where entries are kept, no room is a <see cref="StoreFullException"/> instead.
    /// </summary>
    NoRoom,

    /// <summary>
    /// Not done: the partition's lock was held past <see cref="StoreOptions.LockTimeout"/>, by a process that is stopped or starved.
    /// </summary>
    Busy,
}
