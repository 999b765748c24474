namespace Cairn.Server.Connections;

internal static class ServerClock
{
    /// <summary>Milliseconds of a clock that is never set: time-outs rest on it, so that a change of the machine's time ends no
    /// connection.</summary>
    public static long GetTimestampMs(this TimeProvider clock) =>
        clock.ToMilliseconds(clock.GetTimestamp());

    /// <summary>A timestamp of the clock in those milliseconds.</summary>
    public static long ToMilliseconds(this TimeProvider clock, long ticks) => (long)(ticks * (1000.0 / clock.TimestampFrequency));
}
