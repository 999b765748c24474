namespace Cairn.TortureTests.PowerLoss;

/// <summary>One change that a process made to a disk, or reported to the test.</summary>
/// <param name="Kind">The kind of change.</param>
/// <param name="File">The file's number. 0 if the change concerns no file.</param>
/// <param name="Offset">The position of the bytes. For an extension, the new length. For a flush, the number of changes before it began.</param>
/// <param name="Data">The new bytes, if the kind has any.</param>
/// <param name="Name">The name that was given to a file or removed.</param>
internal sealed record DiskChange(DiskChangeKind Kind, int File, long Offset, byte[] Data, string Name)
{
    /// <summary>Gets whether a part of the change can reach the disk without the rest.</summary>
    public bool IsBytes => Kind is DiskChangeKind.Written or DiskChangeKind.Drifted;
}

internal enum DiskChangeKind
{
    /// <summary>Bytes were written to a file. Any part of them can reach the disk at any time.</summary>
    Written,

    /// <summary>Bytes were changed through a mapping. Any part of them can reach the disk at any time.</summary>
    Drifted,

    /// <summary>A file became longer, with zeros.</summary>
    Extended,

    /// <summary>All changes of a file before the flush began are on the disk.</summary>
    Flushed,

    /// <summary>These bytes of a mapping are on the disk.</summary>
    RangeFlushed,

    /// <summary>A name was given to a file, and removed from the file that had it.</summary>
    Named,

    /// <summary>A name was removed.</summary>
    Unnamed,

    /// <summary>All changes of names before the flush began are on the disk.</summary>
    NamesFlushed,
}
