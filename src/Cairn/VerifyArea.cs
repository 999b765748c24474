namespace Cairn;

/// <summary>The part of a store's file that a finding is about.</summary>
public enum VerifyArea
{
    /// <summary>The file as a whole: its length, or a part that the disk could not read.</summary>
    File = 0,

    /// <summary>The first page: the identity and the layout of the file.</summary>
    Superblock,

    /// <summary>The table of named collections.</summary>
    Collections,

    /// <summary>The state of a partition: lock, version, clearings and counters.</summary>
    Partitions,

    /// <summary>The record of an owner: an opening of the store, present or past.</summary>
    Owners,

    /// <summary>Segment headers, and the lists and queues that segments are in.</summary>
    Segments,

    /// <summary>The index: which entry a slot leads to.</summary>
    Index,

    /// <summary>Entries in their segments.</summary>
    Entries,

    /// <summary>
    /// The log and the snapshot beside the store's file. The offset is in the file that the text names. They are not read if the store is in use.
    /// </summary>
    Log,
}
