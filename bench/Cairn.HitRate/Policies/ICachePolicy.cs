namespace Cairn.HitRate.Policies;

/// <summary>A cache of objects of size 1. It only decides which keys it holds.</summary>
internal interface ICachePolicy : IDisposable
{
    /// <summary>Requests <paramref name="key"/>. A miss inserts the key.</summary>
    /// <returns><see langword="true"/> if the cache held the key.</returns>
    bool Request(int key);
}
