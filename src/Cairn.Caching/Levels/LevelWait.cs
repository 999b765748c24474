namespace Cairn.Caching.Levels;

/// <summary>How long a caller waits for a step on the second level.</summary>
/// <param name="Deadline">What the caller's steps share; null if the step is alone.</param>
/// <param name="Token">Ends the wait.</param>
internal readonly record struct LevelWait(LevelDeadline? Deadline, CancellationToken Token)
{
    /// <summary>The wait of a step that is alone.</summary>
    public static implicit operator LevelWait(CancellationToken token) => new(null, token);

    /// <summary>The same time, and no way to end the wait early.</summary>
    public LevelWait WithoutToken() => new(Deadline, CancellationToken.None);
}
