namespace Cairn.Storage;

/// <summary>Which optional fields an entry carries; the byte <c>fields</c> of its header.</summary>
[Flags]
internal enum EntryFields : byte
{
    None = 0,
    Flags = 1,
    Deadline = 2,
    Sliding = 4,
    Collection = 8,
    Lease = 16,

    /// <summary>Bits of fields that this version does not know; an entry that has one is not readable.</summary>
    Unknown = 0xE0,
}
