namespace Cairn.Eviction;

/// <summary>The reason why an entry left the store, other than removal by a command.</summary>
internal enum EntryDeparture
{
    /// <summary>The entry has expired.</summary>
    Expired,

    /// <summary>Another entry needed the room.</summary>
    Evicted,
}

/// <summary>Receives each entry that this opening of the store expires or evicts.</summary>
/// <remarks>
/// The engine calls it under the lock of the key's partition, on the thread that made the change. It must be fast, must not call
/// the store, and must not throw. Other processes with the store open also expire and evict entries; it does not receive those.
/// </remarks>
internal interface IEntryObserver
{
    /// <summary>Receives an entry that has left.</summary>
    /// <param name="key">The key as the engine stores it. The bytes are valid only during the call.</param>
    /// <param name="collection">The key's collection.</param>
    /// <param name="departure">The reason.</param>
    void OnDeparted(ReadOnlySpan<byte> key, uint collection, EntryDeparture departure);
}
