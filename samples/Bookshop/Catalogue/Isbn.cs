using System.Globalization;

namespace Bookshop.Catalogue;

/// <summary>The numbers of books: 13 digits. The last digit checks the others (ISO 2108).</summary>
internal static class Isbn
{
    private const int Digits = 13;

    public static bool IsValid(string text) =>
        text.Length == Digits && text.All(char.IsAsciiDigit) && text[^1] == CheckDigit(text.AsSpan(0, Digits - 1));

    /// <summary>Returns one of a billion numbers.</summary>
    public static string OfNumber(int number)
    {
        var digits = string.Create(CultureInfo.InvariantCulture, $"978{number:D9}");
        return digits + CheckDigit(digits);
    }

    private static char CheckDigit(ReadOnlySpan<char> digits)
    {
        var sum = 0;
        for (var i = 0; i < digits.Length; i++)
        {
            sum += (digits[i] - '0') * (i % 2 == 0 ? 1 : 3);
        }

        return (char)('0' + ((10 - (sum % 10)) % 10));
    }
}
