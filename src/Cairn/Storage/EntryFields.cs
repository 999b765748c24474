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

    /// <summary>A mark without bytes of its own: the value is out of date, and is served until somebody has a newer one.</summary>
    Stale = 32,

    /// <summary>A mark without bytes of its own: somebody was told to bring a newer value.</summary>
    Awaited = 64,

    /// <summary>The marks, which servers put on values for their clients. The store keeps them and does nothing else with them.</summary>
    Marks = Stale | Awaited,

    /// <summary>Bits of fields that this version does not know; an entry that has one is not readable.</summary>
    Unknown = 0x80,
}
