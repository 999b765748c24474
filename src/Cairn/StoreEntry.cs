namespace Cairn;

/// <summary>An entry that a scan found.</summary>
/// <param name="Key">A copy of the key's bytes.</param>
/// <param name="Info">The entry's information when the scan visited it.</param>
public readonly record struct StoreEntry(ReadOnlyMemory<byte> Key, EntryInfo Info)
{
    /// <summary>Gets the key, decoded as UTF-8. Bytes that are not UTF-8 become U+FFFD.</summary>
    public string KeyText => Encoding.UTF8.GetString(Key.Span);
}
