namespace Cairn.Storage;

/// <summary>The optional fields of an entry. This is the byte <c>fields</c> of its header.</summary>
[Flags]
internal enum EntryFields : byte
{
    None = 0,
    Flags = 1,
    Deadline = 2,
    Sliding = 4,
    Collection = 8,
    Lease = 16,

    /// <summary>A mark without bytes of its own. The value is out of date and is served until a client writes a newer one.</summary>
    Stale = 32,

    /// <summary>A mark without bytes of its own. The server has asked one client to write a newer value.</summary>
    Awaited = 64,

    /// <summary>The marks that servers set on values for their clients. The store only keeps them.</summary>
    Marks = Stale | Awaited,

    /// <summary>A number that a client of memcached's protocol chose as the entry's version.</summary>
    ChosenVersion = 128,
}
