namespace Cairn.Server.Timing;

internal static class ServerClock
{
    /// <summary>Returns the milliseconds of a monotonic clock. Time-outs use it, so a change of the machine's time ends no
    /// connection.</summary>
    public static long GetTimestampMs(this TimeProvider clock) =>
        clock.ToMilliseconds(clock.GetTimestamp());

    /// <summary>Converts a timestamp of the clock to these milliseconds.</summary>
    public static long ToMilliseconds(this TimeProvider clock, long ticks) => (long)(ticks * (1000.0 / clock.TimestampFrequency));
}
