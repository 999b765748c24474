namespace Cairn.Engine;

/// <summary>Receives copies of entries, one after the other.</summary>
internal interface IEntrySink<TKey, TValue>
{
    /// <summary>Returns room for at least <paramref name="count"/> entries whose keys and values have fixed lengths.</summary>
    Span<KeyValuePair<TKey, TValue>> Reserve(int count);

    /// <summary>Receives the first <paramref name="count"/> entries of the room that was reserved last.</summary>
    void Take(int count);

    /// <summary>Receives any other entry, as bytes that are valid during the call.</summary>
    void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);
}
