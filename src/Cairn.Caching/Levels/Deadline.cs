namespace Cairn.Caching.Levels;

/// <summary>The end of the time that an operation of several steps may take.</summary>
internal readonly struct Deadline(TimeSpan timeout, TimeProvider clock)
{
    private readonly long _startedAt = clock.GetTimestamp();

    /// <summary>What is left of it; at least a tick, so that what is at hand already is still taken.</summary>
    public TimeSpan Left
    {
        get
        {
            TimeSpan left = timeout - clock.GetElapsedTime(_startedAt);
            return left > TimeSpan.Zero ? left : TimeSpan.FromTicks(1);
        }
    }
}
