namespace Cairn;

/// <summary>The part of a store's file that a finding is about.</summary>
public enum VerifyArea
{
    /// <summary>The file as a whole: its length, or what the disk could not read.</summary>
    File = 0,

    /// <summary>The first page: what the file is and how it is laid out.</summary>
    Superblock,

    /// <summary>The table of named collections.</summary>
    Collections,

    /// <summary>A partition's own state: lock, version, clearings and counters.</summary>
    Partitions,

    /// <summary>The record of a process that has, or had, the store open.</summary>
    Owners,

    /// <summary>Segment headers, and the lists and queues that segments are in.</summary>
    Segments,

    /// <summary>The index: which entry a slot names.</summary>
    Index,

    /// <summary>Entries in their segments.</summary>
    Entries,

    /// <summary>The log and the snapshot beside the store's file. The offset is in the file that the text names. Of a store in use they are not read.</summary>
    Log,
}
