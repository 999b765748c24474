namespace Cairn;

/// <summary>What a write has survived once it returns.</summary>
public enum Durability
{
    /// <summary><see cref="ProcessCrash"/> where entries are evicted, <see cref="GroupCommit"/> where they are kept.</summary>
    Default = 0,

    /// <summary>The end of every process, however it ends; not a crash of the machine, after which the collection starts empty.</summary>
    ProcessCrash = 1,

    /// <summary>A crash of the machine and a loss of power, too. Writes of the same moment share one synchronisation of the disk.</summary>
    GroupCommit = 2,

    /// <summary>The same, and no write waits for others to share its synchronisation.</summary>
    EveryOperation = 3,
}
