namespace Cairn.WriteAhead;

/// <summary>What a record of the log says; part of the file format.</summary>
internal enum LogKind : byte
{
    None = 0,

    /// <summary>An entry was written. Body: the entry's bytes as they lie in a segment, without padding.</summary>
    Put = 1,

    /// <summary>A key's entry was removed. Body: the key.</summary>
    Remove = 2,

    /// <summary>A collection was cleared, or all logged ones if the collection is <see cref="LogRecord.AllCollections"/>. No body.</summary>
    Clear = 3,

    /// <summary>A collection was created, or opened with other options. Body: its CollectionRecord.</summary>
    CollectionDefined = 4,

    /// <summary>Puts and removes that happened together. Body: their records, one after the other.</summary>
    Transaction = 5,

    /// <summary>Where a snapshot ends. Body: what it holds, to be compared.</summary>
    SnapshotEnd = 6,
}
