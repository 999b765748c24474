namespace Cairn.Cli.Arguments;

/// <summary>Parses keys and values from the command line.</summary>
internal static class KeyInput
{
    public const int MaxKeyBytes = 65_536;

    /// <summary>The character that the runtime substitutes for bytes that are not UTF-8. A key with it would name another entry.</summary>
    private const char Replacement = '\uFFFD';

    /// <summary>Returns a key from its text, or from Base64.</summary>
    /// <exception cref="ToolException">The text is not a key.</exception>
    public static byte[] ReadKey(string text, bool isBase64)
    {
        byte[] key = isBase64 ? FromBase64(text, "the key") : FromText(text, "the key", "--key-base64 takes such a key in Base64");
        return key.Length is >= 1 and <= MaxKeyBytes
            ? key
            : throw ToolException.Usage($"a key has 1 to {MaxKeyBytes} bytes; this one has {key.Length}");
    }

    /// <summary>Returns the UTF-8 form of a text.</summary>
    /// <exception cref="ToolException">The text contained bytes that are not UTF-8.</exception>
    public static byte[] FromText(string text, string what, string remedy)
    {
        if (text.Contains(Replacement, StringComparison.Ordinal))
        {
            throw ToolException.Usage($"{what} has bytes that are not UTF-8; {remedy}");
        }

        return Encoding.UTF8.GetBytes(text);
    }

    /// <summary>Decodes Base64.</summary>
    /// <exception cref="ToolException">The text is not Base64.</exception>
    public static byte[] FromBase64(ReadOnlySpan<char> text, string what)
    {
        var bytes = new byte[(text.Length * 3L / 4) + 3];
        return Convert.TryFromBase64Chars(text, bytes, out int length)
            ? bytes[..length]
            : throw ToolException.Usage($"{what} is not Base64");
    }
}
