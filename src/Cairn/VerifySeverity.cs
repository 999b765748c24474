namespace Cairn;

/// <summary>The severity of a verification's finding.</summary>
public enum VerifySeverity
{
    /// <summary>Useful information. Nothing is wrong.</summary>
    Note = 0,

    /// <summary>
    /// A leftover of a process that died or that could not acquire a lock. It does no harm. The next process that finds it, or the next opening, repairs
    /// it.
    /// </summary>
    Leftover,

    /// <summary>
    /// A state that no sequence of operations and no death of a process can cause. The file was changed by other means, or the disk lost data. Reads of a
    /// damaged place return a miss.
    /// </summary>
    Damage,
}
