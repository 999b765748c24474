namespace Cairn.Caching.Coherence;

/// <summary>Is told of changes that were made elsewhere, and forgets what it held of them before it returns.</summary>
internal interface IChangeSink
{
    /// <summary>A key or a tag with this hash was changed.</summary>
    void OnChanged(ulong hash);

    /// <summary>Any key or tag whose hash, shifted right by <paramref name="shift"/>, is <paramref name="value"/> may have changed; a shift of 64 is all.</summary>
    void OnChangedMany(int shift, ulong value);
}
