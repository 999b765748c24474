namespace Cairn.Caching.Levels;

/// <summary>How long a caller waits for a step on the second level.</summary>
/// <param name="Deadline">The deadline that the caller's steps share; null for a single step.</param>
/// <param name="Token">The token that ends the wait.</param>
internal readonly record struct LevelWait(LevelDeadline? Deadline, CancellationToken Token)
{
    /// <summary>Converts a token to the wait of a single step.</summary>
    public static implicit operator LevelWait(CancellationToken token) => new(null, token);

    /// <summary>Returns the same deadline without a token.</summary>
    public LevelWait WithoutToken() => new(Deadline, CancellationToken.None);
}
