using Cairn.FileStore.Entries;

namespace Cairn.FileStore.Engine;

/// <summary>Converts values between text and bytes with UTF-8, as Net.DistributedFileStoreCache does.</summary>
internal static class EntryText
{
    public static string OfValue(object value) => value switch
    {
        string text => text,
        JsonText json => json.Text,
        _ => Encoding.UTF8.GetString((byte[])value),
    };

    /// <summary>Returns a new array with the bytes of a value.</summary>
    public static byte[] BytesOf(object value) => value switch
    {
        byte[] bytes => bytes.AsSpan().ToArray(),
        JsonText json => json.Utf8.AsSpan().ToArray(),
        _ => Encoding.UTF8.GetBytes((string)value),
    };
}
