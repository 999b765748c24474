namespace Cairn.Cli.Arguments;

/// <summary>Parses times in the form of ISO 8601. The offset from UTC is required.</summary>
internal static class Moment
{
    public const string Form = "a moment of ISO 8601 with its offset from UTC, such as 2026-12-31T23:59:59Z";

    private static readonly string[] Formats = ["yyyy-MM-dd'T'HH:mm:ssK", "yyyy-MM-dd'T'HH:mm:ss.FFFFFFFK", "yyyy-MM-dd'T'HH:mmK"];

    public static bool TryParse(string text, out DateTimeOffset moment)
    {
        moment = default;

        // Without an offset, the same text would mean different times on different machines.
        bool hasOffset = text.EndsWith('Z') || (text.Length > 6 && text[^6] is '+' or '-' && text[^3] == ':');
        return hasOffset
            && DateTimeOffset.TryParseExact(text, Formats, CultureInfo.InvariantCulture, DateTimeStyles.None, out moment);
    }
}
