namespace Cairn.Caching.Levels;

/// <summary>The outcome of an operation on the second level.</summary>
internal enum LevelStatus
{
    /// <summary>There is no such entry.</summary>
    Miss = 0,

    /// <summary>There is an entry.</summary>
    Hit,

    /// <summary>The change was made, and all processes that share the level see it.</summary>
    Done,

    /// <summary>The lease had ended because another caller changed the key. Nothing was written.</summary>
    LeaseLost,

    /// <summary>Another caller holds the lease.</summary>
    Held,

    /// <summary>The outcome is not known: a time-out, an exception, or an open circuit. It was counted.</summary>
    Failed,
}
