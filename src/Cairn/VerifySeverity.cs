namespace Cairn;

/// <summary>What a finding of a verification means.</summary>
public enum VerifySeverity
{
    /// <summary>Worth knowing, and as it should be.</summary>
    Note = 0,

    /// <summary>
    /// Left by a process that died or that could not have a lock. It harms nothing, and whoever next comes by puts it right: another
    /// process, or the next opening.
    /// </summary>
    Leftover,

    /// <summary>
    /// Something that no sequence of operations and no death of a process leaves behind: the file was changed by other means, or the disk
    /// lost something. Reads answer with a miss there.
    /// </summary>
    Damage,
}
