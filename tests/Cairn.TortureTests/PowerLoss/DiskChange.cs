namespace Cairn.TortureTests.PowerLoss;

/// <summary>One thing that a process did to a disk, or told the test.</summary>
/// <param name="Kind">What it was.</param>
/// <param name="File">The file's number; 0 where there is none.</param>
/// <param name="Offset">Where bytes changed; of an extension, the new length; of a flush, how many changes came before it began.</param>
/// <param name="Data">The bytes that are there now, if the kind has some.</param>
/// <param name="Name">The name that was given or taken away.</param>
internal sealed record DiskChange(DiskChangeKind Kind, int File, long Offset, byte[] Data, string Name)
{
    /// <summary>Whether the disk may have it in part.</summary>
    public bool IsBytes => Kind is DiskChangeKind.Written or DiskChangeKind.Drifted;
}

internal enum DiskChangeKind
{
    /// <summary>Bytes were written to a file; they may reach the disk at any time, in any part.</summary>
    Written,

    /// <summary>Bytes were changed through a mapping: the same.</summary>
    Drifted,

    /// <summary>A file became longer, with zeros.</summary>
    Extended,

    /// <summary>What was done to a file before the flush began is on the disk.</summary>
    Flushed,

    /// <summary>These bytes of a mapping are on the disk.</summary>
    RangeFlushed,

    /// <summary>A name was given to a file, in place of the one that had it.</summary>
    Named,

    /// <summary>A name was taken away.</summary>
    Unnamed,

    /// <summary>The names that were given and taken away before the flush began are on the disk.</summary>
    NamesFlushed,
}
