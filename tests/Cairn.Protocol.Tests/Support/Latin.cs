using System.Text;

namespace Cairn.Protocol;

/// <summary>Bytes as text in which each character is one byte, so that test data can be read.</summary>
internal static class Latin
{
    public static byte[] Bytes(string text) => Encoding.Latin1.GetBytes(text);

    public static string Text(ReadOnlySpan<byte> bytes) => Encoding.Latin1.GetString(bytes);
}
