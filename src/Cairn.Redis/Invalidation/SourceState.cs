namespace Cairn.Redis.Invalidation;

/// <summary>Whether a source of changes can vouch for what it has received.</summary>
internal enum SourceState
{
    /// <summary>All changes since the last call have been received.</summary>
    Live,

    /// <summary>The source receives changes. Some of those since the last call may have been missed.</summary>
    LiveAfterGap,

    /// <summary>The set of servers changed during the call. The next call gives the state.</summary>
    Changing,
}
