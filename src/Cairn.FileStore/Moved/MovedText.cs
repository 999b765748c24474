using System.Runtime.InteropServices;
using System.Text;

namespace Cairn.FileStore.Moved;

/// <summary>Strings as bytes: UTF-8, which others can read, or, if there is half a surrogate pair in it, a byte that UTF-8 does not have and UTF-16.</summary>
internal static class MovedText
{
    private const byte Utf16Mark = 0xFF;

    private static readonly UTF8Encoding Strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    public static byte[] ToBytes(string text)
    {
        try
        {
            return Strict.GetBytes(text);
        }
        catch (EncoderFallbackException)
        {
            return [Utf16Mark, .. MemoryMarshal.AsBytes(text.AsSpan())]; // Encoding.Unicode would replace the half.
        }
    }

    public static string ToText(byte[] bytes) =>
        bytes is [Utf16Mark, ..] ? new string(MemoryMarshal.Cast<byte, char>(bytes.AsSpan(1))) : Encoding.UTF8.GetString(bytes);
}
