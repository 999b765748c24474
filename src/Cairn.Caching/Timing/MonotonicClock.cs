namespace Cairn.Caching.Timing;

/// <summary>A millisecond clock that never goes back, from a source of time. A read of the system's own clock costs a few nanoseconds.</summary>
internal readonly struct MonotonicClock(TimeProvider source)
{
    private readonly TimeProvider? _source = source == TimeProvider.System ? null : source;

    public long NowMs => _source is null ? Environment.TickCount64 : (long)_source.GetElapsedTime(0).TotalMilliseconds;
}
