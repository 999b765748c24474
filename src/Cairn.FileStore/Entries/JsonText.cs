namespace Cairn.FileStore.Entries;

/// <summary>A value that is JSON in the file: an object, an array, a number or a literal.</summary>
internal sealed class JsonText(string text)
{
    private object? _shared;

    public string Text { get; } = text;

    /// <summary>What the text was last deserialized to, where objects may be shared.</summary>
    public object? Shared
    {
        get => Volatile.Read(ref _shared);
        set => Volatile.Write(ref _shared, value);
    }
}
