namespace Cairn.Caching.Levels;

/// <summary>The right to create the value of a key, until another caller changes the key. Disposal releases it.</summary>
internal interface ILevelLease : IAsyncDisposable
{
    /// <summary>False once the lease is known to be lost.</summary>
    bool IsHeld { get; }
}
