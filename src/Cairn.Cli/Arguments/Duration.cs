namespace Cairn.Cli.Arguments;

/// <summary>Parses durations such as 90s, 5m, 1h30m, 2d and 500ms.</summary>
internal static class Duration
{
    public const string Form = "a number with ms, s, m, h, d or w, such as 90s, 5m, 1h30m or 2d";

    private static readonly SearchValues<char> NumberCharacters = SearchValues.Create("0123456789.");

    private static readonly (string Unit, long Milliseconds)[] Units =
    [
        ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000),
    ];

    /// <summary>Parses a duration. The unit is required, because a plain 300 could mean seconds or milliseconds.</summary>
    public static bool TryParse(ReadOnlySpan<char> text, out TimeSpan time)
    {
        time = default;
        if (text.IsEmpty)
        {
            return false;
        }

        decimal milliseconds = 0;
        while (!text.IsEmpty)
        {
            int digits = text.IndexOfAnyExcept(NumberCharacters);
            if (digits <= 0
                || !decimal.TryParse(text[..digits], NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out decimal number))
            {
                return false;
            }

            text = text[digits..];
            int letters = text.IndexOfAny(NumberCharacters);
            ReadOnlySpan<char> unit = letters < 0 ? text : text[..letters];
            if (!TryGetUnit(unit, out long factor) || number > 1_000_000_000_000)
            {
                return false;
            }

            milliseconds += number * factor;
            text = text[unit.Length..];
        }

        if (milliseconds > (decimal)TimeSpan.MaxValue.TotalMilliseconds / 2)
        {
            return false;
        }

        time = TimeSpan.FromTicks((long)(milliseconds * TimeSpan.TicksPerMillisecond));
        return true;
    }

    private static bool TryGetUnit(ReadOnlySpan<char> unit, out long milliseconds)
    {
        foreach ((string name, long factor) in Units)
        {
            if (unit.SequenceEqual(name))
            {
                milliseconds = factor;
                return true;
            }
        }

        milliseconds = 0;
        return false;
    }
}
