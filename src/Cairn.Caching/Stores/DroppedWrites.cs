using Microsoft.Extensions.Logging;

namespace Cairn.Caching.Stores;

/// <summary>Counts writes to a store that were not done, and tells of them once a minute at most. Any thread.</summary>
internal sealed partial class DroppedWrites(string path, ILogger logger)
{
    private const long QuietMs = 60_000;

    private long _count;
    private long _toldMs = long.MinValue;

    public long Count => Interlocked.Read(ref _count);

    public void Add()
    {
        long count = Interlocked.Increment(ref _count);
        long now = Environment.TickCount64;
        long told = Interlocked.Read(ref _toldMs);
        bool isDue = told == long.MinValue || now - told >= QuietMs;

        // Of threads that come at once, one tells.
        if (isDue && Interlocked.CompareExchange(ref _toldMs, now, told) == told)
        {
            LogDropped(logger, path, count);
        }
    }

    [LoggerMessage(
        EventId = 101,
        EventName = "WriteDropped",
        Level = LogLevel.Warning,
        Message = "A write to the store '{Path}' was dropped, {Count} so far: a process that holds a lock of it is stopped or starved, " +
            "or readers have pinned all there is. The earlier value is gone.")]
    private static partial void LogDropped(ILogger logger, string path, long count);
}
