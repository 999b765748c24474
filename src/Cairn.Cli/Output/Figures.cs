using System.Globalization;
using Cairn.Messages;

namespace Cairn.Cli.Output;

/// <summary>Numbers as people read them.</summary>
internal static class Figures
{
    public static string Count(long count) => count.ToString("N0", CultureInfo.InvariantCulture);

    /// <summary>Such as 1 entry, 2,000 entries.</summary>
    public static string Entries(long count) => $"{Count(count)} {(count == 1 ? "entry" : "entries")}";

    /// <summary>Such as 17 B, 1.5 KiB, 256 MiB: three digits that matter.</summary>
    public static string Bytes(long bytes) => ByteText.Of(bytes);

    public static string Percent(double part) => string.Create(CultureInfo.InvariantCulture, $"{part * 100:0.0} %");

    /// <summary>Such as 3 s, 2 min 5 s, 1 h 20 min, 12 d 3 h: the two largest units.</summary>
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

    /// <summary>Such as 85 µs, 1.25 ms, 3.1 s: three digits that matter.</summary>
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

    /// <summary>ISO 8601 in UTC with the milliseconds that a store keeps.</summary>
    public static string Moment(DateTimeOffset moment) =>
        moment.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);

    private static string Format(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
