namespace Cairn.FileStore.Adapters;

/// <summary>
/// Converts strings to bytes and back. The bytes are UTF-8, which other programs can read. A string with half of a surrogate pair is stored as
/// the byte 0xFF, which does not occur in UTF-8, followed by UTF-16.
/// </summary>
internal static class DistributedText
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
            return [Utf16Mark, .. MemoryMarshal.AsBytes(text.AsSpan())]; // Encoding.Unicode would replace the unpaired surrogate.
        }
    }

    public static string ToText(byte[] bytes) =>
        bytes is [Utf16Mark, ..] ? new string(MemoryMarshal.Cast<byte, char>(bytes.AsSpan(1))) : Encoding.UTF8.GetString(bytes);
}
