namespace Cairn;

/// <summary>An entry and its size.</summary>
/// <param name="Collection">The collection's name; empty for the default collection.</param>
/// <param name="Key">A copy of the key's bytes.</param>
/// <param name="ValueBytes">The length of the value in bytes.</param>
public readonly record struct EntrySize(string Collection, ReadOnlyMemory<byte> Key, int ValueBytes)
{
    /// <summary>Gets the key, decoded as UTF-8. Bytes that are not UTF-8 become U+FFFD.</summary>
    public string KeyText => Encoding.UTF8.GetString(Key.Span);
}
