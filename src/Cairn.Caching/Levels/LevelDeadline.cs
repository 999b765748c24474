namespace Cairn.Caching.Levels;

// The time that one call of the cache may wait for its second level. All steps of the call share it: the read, the lease, tags, the
// write. Time in which the cache waits for something else, such as the factory, does not count.
//
//   I1  A step with a time limit waits for what remains of that limit since the start of the call. So no call waits longer for the
//       second level than the largest limit among its steps.
//
// The clock starts with the first question, so that a call that never waits does not read the clock. Used by one thread at a time, or
// without pauses.
internal sealed class LevelDeadline(TimeProvider clock)
{
    private const long NotRunning = long.MinValue;

    private long _startedAt = NotRunning;
    private long _pausedAt = NotRunning;

    /// <summary>Returns the remainder of a limit; zero or less if it is used up.</summary>
    public TimeSpan Left(TimeSpan limit)
    {
        long startedAt = Volatile.Read(ref _startedAt);
        if (startedAt == NotRunning)
        {
            Interlocked.CompareExchange(ref _startedAt, clock.GetTimestamp(), NotRunning);
            return limit;
        }

        return limit - clock.GetElapsedTime(startedAt);
    }

    /// <summary>Returns whether a limit is used up.</summary>
    public bool IsSpent(TimeSpan limit) => Volatile.Read(ref _startedAt) != NotRunning && Left(limit) <= TimeSpan.Zero;

    /// <summary>Stops the clock while the call does not wait for the second level.</summary>
    public void Pause()
    {
        if (_startedAt != NotRunning && _pausedAt == NotRunning)
        {
            _pausedAt = clock.GetTimestamp();
        }
    }

    /// <summary>Restarts the clock.</summary>
    public void Resume()
    {
        if (_pausedAt != NotRunning)
        {
            _startedAt += clock.GetTimestamp() - _pausedAt;
            _pausedAt = NotRunning;
        }
    }
}
