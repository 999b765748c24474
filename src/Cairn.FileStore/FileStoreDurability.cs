namespace Cairn.FileStore;

/// <summary>What a change survives once the call that made it has returned.</summary>
public enum FileStoreDurability
{
    /// <summary>The end of the process, however it comes. After a power loss the last changes may be missing. The default: a change costs microseconds.</summary>
    ProcessCrash = 0,

    /// <summary>A power loss, too: each change is flushed to the disk, which takes a millisecond or more.</summary>
    PowerLoss = 1,
}
