namespace Cairn.HitRate.Policies;

/// <summary>A cache of unit-size objects, as the sequence of its decisions.</summary>
internal interface ICachePolicy : IDisposable
{
    /// <summary>Asks for <paramref name="key"/>; on a miss the key is brought in.</summary>
    /// <returns><see langword="true"/> if the cache held the key.</returns>
    bool Request(int key);
}
