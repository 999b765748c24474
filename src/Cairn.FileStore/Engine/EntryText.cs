using System.Text;
using Cairn.FileStore.Entries;

namespace Cairn.FileStore.Engine;

/// <summary>A value as somebody wants it who did not store it that way. Text and bytes are each other's UTF-8, as in
/// Net.DistributedFileStoreCache.</summary>
internal static class EntryText
{
    public static string OfValue(object value) => value switch
    {
        string text => text,
        JsonText json => json.Text,
        _ => Encoding.UTF8.GetString((byte[])value),
    };

    /// <summary>Bytes of the caller's own.</summary>
    public static byte[] BytesOf(object value) => value switch
    {
        byte[] bytes => bytes.AsSpan().ToArray(),
        JsonText json => json.Utf8.AsSpan().ToArray(),
        _ => Encoding.UTF8.GetBytes((string)value),
    };
}
