namespace Cairn.Engine;

/// <summary>Takes copies of entries, one after the other.</summary>
internal interface IEntrySink<TKey, TValue>
{
    /// <summary>An entry whose key and value have fixed lengths.</summary>
    void Add(TKey key, TValue value);

    /// <summary>Any other, as bytes that are valid during the call.</summary>
    void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);
}
