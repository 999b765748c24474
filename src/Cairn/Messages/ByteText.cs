namespace Cairn.Messages;

/// <summary>Formats sizes for messages, with three significant digits: 17 B, 1.5 KiB, 256 MiB.</summary>
internal static class ByteText
{
    private static readonly string[] Units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

    /// <summary>Formats a size, rounded to three digits.</summary>
    public static string Of(long bytes) => Format(bytes, static (value, _) => value);

    /// <summary>Formats a size, rounded up to three digits. A user who types the result gets a size that is large enough.</summary>
    public static string AtLeast(long bytes) => Format(bytes, static (value, digits) =>
    {
        double scale = Math.Pow(10, digits);
        return Math.Ceiling(value * scale) / scale;
    });

    private static string Format(double size, Func<double, int, double> round)
    {
        int unit = 0;
        while (size >= 999.5 && unit < Units.Length - 1)
        {
            size /= 1024;
            unit++;
        }

        int digits = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
        string format = digits switch { 0 => "0", 1 => "0.#", _ => "0.##" };
        return string.Create(CultureInfo.InvariantCulture, $"{round(size, digits).ToString(format, CultureInfo.InvariantCulture)} {Units[unit]}");
    }
}
