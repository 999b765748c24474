namespace Cairn.Caching.Levels;

/// <summary>The right to make the value of a key, until somebody else changes the key. Disposing gives it back.</summary>
internal interface ILevelLease : IAsyncDisposable
{
    /// <summary>False once it is known to be lost.</summary>
    bool IsHeld { get; }
}
