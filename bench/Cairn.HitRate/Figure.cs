using System.Globalization;

namespace Cairn.HitRate;

/// <summary>Figures as the tables show them.</summary>
internal static class Figure
{
    /// <summary>Returns a number with two decimals, or in another format. Nothing for a figure that does not exist.</summary>
    public static string Text(double number, string format = "0.00") => double.IsNaN(number) ? "" : number.ToString(format, CultureInfo.InvariantCulture);

    /// <summary>Returns a number with its sign and two decimals.</summary>
    /// <remarks>A format with a section for negative numbers shows -0.001 as "-+0.00", so the number is rounded first, and the sum has no negative zero.</remarks>
    public static string Signed(double number) => Text(Math.Round(number, 2) + 0.0, "+0.00;-0.00");
}
