namespace Cairn.FileStore.Entries;

/// <summary>A value that is stored as JSON in the file: an object, an array, a number or a literal.</summary>
/// <param name="utf8">The text of the file; it must not change.</param>
internal sealed class JsonText(byte[] utf8)
{
    private string? _text;
    private object? _shared;

    // UTF-8 is the form in the file and the input of System.Text.Json. The string is created only on request.
    public byte[] Utf8 { get; } = utf8;

    public string Text => _text ??= Encoding.UTF8.GetString(Utf8);

    /// <summary>Gets or sets the last object that was deserialized from the text, if objects may be shared.</summary>
    public object? Shared
    {
        get => Volatile.Read(ref _shared);
        set => Volatile.Write(ref _shared, value);
    }
}
