namespace Cairn.Server.Connections;

internal static class ServerClock
{
    /// <summary>Milliseconds of a clock that is never set: time-outs rest on it, so that a change of the machine's time ends no
    /// connection.</summary>
    public static long GetTimestampMs(this TimeProvider clock) =>
        (long)(clock.GetTimestamp() * (1000.0 / clock.TimestampFrequency));
}
