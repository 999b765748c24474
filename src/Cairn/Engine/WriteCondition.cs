namespace Cairn.Engine;

/// <summary>What must be true of a key for a write to it to happen.</summary>
internal enum WriteCondition
{
    Always,
    IfAbsent,
    IfPresent,

    /// <summary>Present, with the version that the write names.</summary>
    IfVersion,

    /// <summary>The key's entry is the lease that the write names by version.</summary>
    IfLease,
}
