namespace Cairn.WriteAhead;

/// <summary>The kind of a log record. The numbers are part of the file format.</summary>
internal enum LogKind : byte
{
    None = 0,

    /// <summary>An entry was written. The body is the entry's bytes as they are in a segment, without padding.</summary>
    Put = 1,

    /// <summary>A key's entry was removed. The body is the key.</summary>
    Remove = 2,

    /// <summary>
    /// A collection was cleared, or all logged collections if the collection is <see cref="LogRecord.AllCollections"/>. The record has no body.
    /// </summary>
    Clear = 3,

    /// <summary>A collection was created, or opened with other options. The body is its CollectionRecord.</summary>
    CollectionDefined = 4,

    /// <summary>Several puts and removals happened together. The body is their records, one after the other.</summary>
    Transaction = 5,

    /// <summary>The end of a snapshot. The body has counts with which the snapshot is compared.</summary>
    SnapshotEnd = 6,
}
