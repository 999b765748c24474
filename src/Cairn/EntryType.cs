namespace Cairn;

/// <summary>The type of an entry's content. Reads and writes of values see only <see cref="Value"/>.</summary>
/// <remarks>The file stores it as one byte. Numbers are never reused. Numbers from 16 are reserved for higher layers.</remarks>
public enum EntryType
{
    /// <summary>No content: space that was reserved and not used.</summary>
    None = 0,

    /// <summary>A value.</summary>
    Value = 1,

    /// <summary>A lease on a key that has no value.</summary>
    Lease = 2,

    /// <summary>
    /// A directory of fields: a hash that the server's hash commands write. A read of a value does not find it. Removal, a change of the expiration, and
    /// the check whether a key exists do apply to it.
    /// </summary>
    Hash = 16,

    /// <summary>The stamp of a tag. Not used yet.</summary>
    Tag = 17,
}
