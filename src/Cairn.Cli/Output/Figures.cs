using Cairn.Messages;

namespace Cairn.Cli.Output;

/// <summary>Formats numbers for people.</summary>
internal static class Figures
{
    public static string Count(long count) => count.ToString("N0", CultureInfo.InvariantCulture);

    /// <summary>Formats a number of entries, such as 1 entry or 2,000 entries.</summary>
    public static string Entries(long count) => $"{Count(count)} {(count == 1 ? "entry" : "entries")}";

    /// <summary>Formats a size with three significant digits, such as 17 B, 1.5 KiB or 256 MiB.</summary>
    public static string Bytes(long bytes) => ByteText.Of(bytes);

    public static string Percent(double part) => string.Create(CultureInfo.InvariantCulture, $"{part * 100:0.0} %");

    /// <summary>Formats a duration in its two largest units, such as 3 s, 2 min 5 s, 1 h 20 min or 12 d 3 h.</summary>
    public static string Time(TimeSpan time)
    {
        if (time < TimeSpan.Zero)
        {
            time = TimeSpan.Zero;
        }

        return time switch
        {
            { TotalSeconds: < 1 } => Format($"{time.TotalMilliseconds:0} ms"),
            { TotalMinutes: < 1 } => Format($"{Math.Floor(time.TotalSeconds):0} s"),
            { TotalHours: < 1 } => Format($"{time.Minutes} min {time.Seconds} s"),
            { TotalDays: < 1 } => Format($"{time.Hours} h {time.Minutes} min"),
            _ => Format($"{time.Days} d {time.Hours} h"),
        };
    }

    /// <summary>Formats a latency with three significant digits, such as 85 µs, 1.25 ms or 3.1 s.</summary>
    public static string Latency(long nanoseconds)
    {
        (double value, string unit) = nanoseconds switch
        {
            < 999_500 => (nanoseconds / 1e3, "µs"),
            < 999_500_000 => (nanoseconds / 1e6, "ms"),
            _ => (nanoseconds / 1e9, "s"),
        };
        string format = value >= 99.95 ? "0" : value >= 9.995 ? "0.0" : "0.00";
        return $"{value.ToString(format, CultureInfo.InvariantCulture)} {unit}";
    }

    /// <summary>Formats a time in UTC as ISO 8601, with milliseconds, the precision of a store.</summary>
    public static string Moment(DateTimeOffset moment) =>
        moment.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);

    private static string Format(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
