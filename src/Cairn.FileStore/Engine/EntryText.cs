using System.Text.Unicode;
using Cairn.FileStore.Entries;

namespace Cairn.FileStore.Engine;

/// <summary>Converts values between text and bytes with UTF-8, as Net.DistributedFileStoreCache does.</summary>
internal static class EntryText
{
    // Control characters except tabs and line ends. JSON escapes most of them with six bytes each.
    private static readonly SearchValues<byte> NotText = SearchValues.Create(
        [.. Enumerable.Range(0, 32).Where(code => code is not ('\t' or '\n' or '\r')).Select(code => (byte)code)]);

    public static string OfValue(object value) => value switch
    {
        string text => text,
        JsonText json => json.Text,
        _ => Encoding.UTF8.GetString((byte[])value),
    };

    /// <summary>Returns a value with these bytes: text if they are text, which is shorter than Base64 and readable; otherwise a copy.</summary>
    public static object OfBytes(ReadOnlySpan<byte> bytes) =>
        Utf8.IsValid(bytes) && bytes.IndexOfAny(NotText) < 0 ? Encoding.UTF8.GetString(bytes) : bytes.ToArray();

    /// <summary>Returns a new array with the bytes of a value.</summary>
    public static byte[] BytesOf(object value) => value switch
    {
        byte[] bytes => bytes.AsSpan().ToArray(),
        JsonText json => json.Utf8.AsSpan().ToArray(),
        _ => Encoding.UTF8.GetBytes((string)value),
    };
}
