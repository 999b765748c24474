using System.Text;

namespace Cairn.Protocol;

/// <summary>Converts bytes to text with one character for each byte, so that people can read test data.</summary>
internal static class Latin
{
    public static byte[] Bytes(string text) => Encoding.Latin1.GetBytes(text);

    public static string Text(ReadOnlySpan<byte> bytes) => Encoding.Latin1.GetString(bytes);
}
