using System.Text;

namespace Cairn.FileStore.Entries;

/// <summary>A value that is JSON in the file: an object, an array, a number or a literal.</summary>
/// <param name="utf8">As it stands in the file; nobody changes it.</param>
internal sealed class JsonText(byte[] utf8)
{
    private string? _text;
    private object? _shared;

    // UTF-8, as it is read from the file and what System.Text.Json deserializes; the string only for those who ask for one.
    public byte[] Utf8 { get; } = utf8;

    public string Text => _text ??= Encoding.UTF8.GetString(Utf8);

    /// <summary>What the text was last deserialized to, where objects may be shared.</summary>
    public object? Shared
    {
        get => Volatile.Read(ref _shared);
        set => Volatile.Write(ref _shared, value);
    }
}
