namespace Cairn;

/// <summary>What an entry holds. Reads and writes of values see only <see cref="Value"/>.</summary>
/// <remarks>Stored in the file as one byte; numbers are never reused. Numbers from 16 are kept for later layers.</remarks>
public enum EntryType
{
    /// <summary>Nothing: space that was reserved and not used.</summary>
    None = 0,

    /// <summary>A value.</summary>
    Value = 1,

    /// <summary>A lease on a key that has no value.</summary>
    Lease = 2,

    /// <summary>A directory of fields: a hash, as the server's hash commands write it. Reads of values do not find it; whether a key
    /// is taken, removing it and changing when it expires count it in.</summary>
    Hash = 16,

    /// <summary>The stamp of a tag. Reserved.</summary>
    Tag = 17,
}
