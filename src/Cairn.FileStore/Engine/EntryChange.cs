using Cairn.FileStore.Entries;

namespace Cairn.FileStore.Engine;

/// <summary>
/// A requested change: an entry to store, an entry without a value to remove the key's value, or a touch, which is a new expiration of
/// an existing entry.
/// </summary>
internal readonly record struct EntryChange(Entry Entry, bool IsTouch = false);
