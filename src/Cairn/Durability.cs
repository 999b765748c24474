namespace Cairn;

/// <summary>The failures that a write survives once it has returned.</summary>
public enum Durability
{
    /// <summary><see cref="ProcessCrash"/> if entries are evicted, <see cref="GroupCommit"/> if they are kept.</summary>
    Default = 0,

    /// <summary>
    /// A write survives the end of every process, even a crash. It does not survive a crash of the machine: the collection starts empty after one.
    /// </summary>
    ProcessCrash = 1,

    /// <summary>
    /// A write also survives a crash of the machine and a loss of power. Writes of the same moment share one synchronization of the disk.
    /// </summary>
    GroupCommit = 2,

    /// <summary>The same as <see cref="GroupCommit"/>, but no write waits for others to share its synchronization.</summary>
    EveryOperation = 3,
}
