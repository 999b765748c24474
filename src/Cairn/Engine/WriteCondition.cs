namespace Cairn.Engine;

/// <summary>The condition on a key that must be met for a write to it.</summary>
internal enum WriteCondition
{
    Always,
    IfAbsent,
    IfPresent,

    /// <summary>The key exists and has the version that the write names.</summary>
    IfVersion,

    /// <summary>The key's entry is the lease whose version the write names.</summary>
    IfLease,
}
