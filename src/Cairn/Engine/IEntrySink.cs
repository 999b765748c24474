namespace Cairn.Engine;

/// <summary>Takes copies of entries, one after the other.</summary>
internal interface IEntrySink<TKey, TValue>
{
    /// <summary>Room for entries whose keys and values have fixed lengths, at least so many.</summary>
    Span<KeyValuePair<TKey, TValue>> Reserve(int count);

    /// <summary>Takes the first entries of the room that was reserved last.</summary>
    void Take(int count);

    /// <summary>Takes any other entry, as bytes that are valid during the call.</summary>
    void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);
}
