namespace Cairn;

/// <summary>The failures that a write survives once it has returned.</summary>
public enum Durability
{
    /// <summary>
    /// <see cref="ProcessCrash"/> if entries are evicted. If they are kept, <see cref="GroupCommit"/> for a collection and
    /// <see cref="BackgroundCommit"/> for a map.
    /// </summary>
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

    /// <summary>
    /// A write survives the end of every process at once. It survives a crash of the machine and a loss of power 50 milliseconds and one flush of
    /// the disk later: the log is synchronized in the background, 50 milliseconds after the first write that is not durable. A write does not wait for
    /// the disk. After a loss of power the collection is as it was at one moment of that time. <see cref="CairnStore.Flush"/> waits for the disk.
    /// </summary>
    /// <remarks>
    /// If the process is killed in this time, another process that has the store open synchronizes the log within about a second. If there is none, the
    /// operating system does, which takes about half a minute on Linux.
    /// </remarks>
    BackgroundCommit = 4,
}
