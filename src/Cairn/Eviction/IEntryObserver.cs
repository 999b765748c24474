namespace Cairn.Eviction;

/// <summary>Why an entry left the store without a command that removed it.</summary>
internal enum EntryDeparture
{
    /// <summary>Its time to live had passed.</summary>
    Expired,

    /// <summary>Another entry needed its room.</summary>
    Evicted,
}

/// <summary>Receives each entry that this opening of the store expires or evicts.</summary>
/// <remarks>
/// The engine calls it under the lock of the key's partition, on the thread that made the change. It must be quick, must not call
/// the store, and must not throw. Other processes with the store open expire and evict too; those entries are not received.
/// </remarks>
internal interface IEntryObserver
{
    /// <summary>An entry has left.</summary>
    /// <param name="key">The key as the engine stores it. The bytes are valid during the call only.</param>
    /// <param name="collection">The key's collection.</param>
    /// <param name="departure">Why it left.</param>
    void OnDeparted(ReadOnlySpan<byte> key, uint collection, EntryDeparture departure);
}
