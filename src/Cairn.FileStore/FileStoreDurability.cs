namespace Cairn.FileStore;

/// <summary>The failures that a change survives after its call has returned.</summary>
public enum FileStoreDurability
{
    /// <summary>
    /// A change survives any end of the process. After a power loss the last changes may be missing. The default, because a change costs
    /// microseconds.
    /// </summary>
    ProcessCrash = 0,

    /// <summary>A change also survives a power loss. Each change is flushed to the disk, which takes a millisecond or more.</summary>
    PowerLoss = 1,
}
