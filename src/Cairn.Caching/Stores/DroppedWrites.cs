using Cairn.Caching.Telemetry;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching.Stores;

/// <summary>Counts writes to a store that were dropped, and logs them at most once a minute. Safe from any thread.</summary>
internal sealed partial class DroppedWrites(string path, ILogger logger)
{
    private const long QuietMs = 60_000;

    private readonly LogGate _gate = new(QuietMs);
    private long _count;

    public long Count => Interlocked.Read(ref _count);

    public void Add()
    {
        long count = Interlocked.Increment(ref _count);
        if (_gate.TryPass(Environment.TickCount64, out _))
        {
            LogDropped(logger, path, count);
        }
    }

    [LoggerMessage(
        EventId = 101,
        EventName = "WriteDropped",
        Level = LogLevel.Warning,
        Message = "A write to the store '{Path}' was dropped, {Count} so far: a process that holds a lock of it is stopped or starved, " +
            "or readers have pinned all segments. The earlier value is gone.")]
    private static partial void LogDropped(ILogger logger, string path, long count);
}
