namespace Cairn.Caching.Coherence;

/// <summary>Receives changes by other processes, and removes the entries that they concern before it returns.</summary>
internal interface IChangeSink
{
    /// <summary>Handles a change of a key or a tag with this hash.</summary>
    void OnChanged(ulong hash);

    /// <summary>
    /// Handles a possible change of all keys and tags whose hash, shifted right by <paramref name="shift"/>, is <paramref name="value"/>;
    /// a shift of 64 means all.
    /// </summary>
    void OnChangedMany(int shift, ulong value);
}
