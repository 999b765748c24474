using System.Text;

namespace Cairn;

/// <summary>An entry found by a scan.</summary>
/// <param name="Key">A copy of the key's bytes.</param>
/// <param name="Info">What was known of the entry when the scan came by.</param>
public readonly record struct StoreEntry(ReadOnlyMemory<byte> Key, EntryInfo Info)
{
    /// <summary>The key read as UTF-8; bytes that are not UTF-8 become U+FFFD.</summary>
    public string KeyText => Encoding.UTF8.GetString(Key.Span);
}
