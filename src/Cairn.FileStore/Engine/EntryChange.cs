using Cairn.FileStore.Entries;

namespace Cairn.FileStore.Engine;

/// <summary>A change to be made: an entry, an entry without a value to remove the key's, or another expiration for one.</summary>
internal readonly record struct EntryChange(Entry Entry, bool IsTouch = false);
