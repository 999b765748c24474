namespace Cairn.Caching.Levels;

/// <summary>Milliseconds that never go back, of a source of time. With the system's own it costs a few nanoseconds.</summary>
internal readonly struct MonotonicClock(TimeProvider source)
{
    private readonly TimeProvider? _source = source == TimeProvider.System ? null : source;

    public long NowMs => _source is null ? Environment.TickCount64 : (long)_source.GetElapsedTime(0).TotalMilliseconds;
}
