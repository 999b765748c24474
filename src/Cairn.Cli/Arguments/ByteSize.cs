namespace Cairn.Cli.Arguments;

/// <summary>Parses sizes such as 268435456, 256MiB, 1.5GiB and 10MB.</summary>
internal static class ByteSize
{
    public const string Form = "bytes, or a number with KiB, MiB, GiB or TiB (1024) or KB, MB, GB or TB (1000), such as 256MiB";

    private static readonly SearchValues<char> NumberCharacters = SearchValues.Create("0123456789.");

    private static readonly (string Unit, long Bytes)[] Units =
    [
        ("", 1), ("B", 1),
        ("KiB", 1L << 10), ("MiB", 1L << 20), ("GiB", 1L << 30), ("TiB", 1L << 40),
        ("K", 1L << 10), ("M", 1L << 20), ("G", 1L << 30), ("T", 1L << 40),
        ("KB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
    ];

    /// <summary>Parses a size. The unit is not case-sensitive. A fraction of a byte is an error.</summary>
    public static bool TryParse(ReadOnlySpan<char> text, out long bytes)
    {
        bytes = 0;
        int digits = text.IndexOfAnyExcept(NumberCharacters);
        ReadOnlySpan<char> number = digits < 0 ? text : text[..digits];
        ReadOnlySpan<char> unit = digits < 0 ? "" : text[digits..].TrimStart(' ');
        if (!decimal.TryParse(number, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out decimal value)
            || value > 1_000_000_000_000_000)
        {
            return false;
        }

        foreach ((string name, long factor) in Units)
        {
            if (unit.Equals(name, StringComparison.OrdinalIgnoreCase))
            {
                decimal product = value * factor;
                bytes = product <= long.MaxValue ? (long)product : 0;
                return product == bytes;
            }
        }

        return false;
    }
}
