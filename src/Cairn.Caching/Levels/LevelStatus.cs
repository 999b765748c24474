namespace Cairn.Caching.Levels;

/// <summary>How an operation on the second level ended.</summary>
internal enum LevelStatus
{
    /// <summary>There is no such entry.</summary>
    Miss = 0,

    /// <summary>There is one.</summary>
    Hit,

    /// <summary>The change was made, and is visible to all who share the level.</summary>
    Done,

    /// <summary>The lease had been cancelled: somebody changed the key meanwhile. Nothing was written.</summary>
    LeaseLost,

    /// <summary>Another holds the lease.</summary>
    Held,

    /// <summary>Nothing is known: time-out, exception, or the circuit is open. It was counted.</summary>
    Failed,
}
