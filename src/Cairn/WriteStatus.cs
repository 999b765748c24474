namespace Cairn;

/// <summary>The result of a conditional write.</summary>
public enum WriteStatus
{
    /// <summary>Done: the value was stored, changed or removed as requested.</summary>
    Stored = 0,

    /// <summary>Not done: the key already has a value.</summary>
    Exists,

    /// <summary>Not done: the key has no value.</summary>
    NotFound,

    /// <summary>Not done: the value was written after the expected version.</summary>
    VersionMismatch,

    /// <summary>Not done: another write, a removal or a clearing cancelled the lease, or another caller took it over.</summary>
    LeaseLost,

    /// <summary>Not done: the value is not a decimal number of 64 bits.</summary>
    NotANumber,

    /// <summary>Not done: the result is outside the range of 64 bits.</summary>
    Overflow,

    /// <summary>Not done: the result is longer than the store allows. The value is unchanged.</summary>
    TooLarge,

    /// <summary>
    /// Not done: the store had no room. Readers pinned everything that could be evicted, or nothing could be evicted. If the operation replaces values
    /// unconditionally, the earlier value is gone. If entries are kept, the write throws <see cref="StoreFullException"/> instead.
    /// </summary>
    NoRoom,

    /// <summary>
    /// Not done: another process held the partition's lock longer than <see cref="StoreOptions.LockTimeout"/>. That process is stopped or gets no processor
    /// time.
    /// </summary>
    Busy,
}
