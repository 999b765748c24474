using Cairn.Platform;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// The system's platform with two changes. The schedule decides when its actors sleep and wake, and no time passes. The platform also records how much
/// of a log is durable.
/// </summary>
internal sealed class ScheduledPlatform : ProxyPlatform
{
    private ScheduledPlatform()
    {
    }

    public static ScheduledPlatform Instance { get; } = new();

    /// <summary>Gets or sets the function that returns the end of the observed log; <see langword="null"/> if no log is observed.</summary>
    public Func<long>? TailOfLog { get; set; }

    /// <summary>Gets or sets the end of the log at the start of the last completed flush.</summary>
    public long FlushedTail { get; set; }

    /// <summary>Opens a store on this platform.</summary>
    public static CairnStore OpenStore(StoreOptions options) => Instance.On(() => CairnStore.Open(options));

    public override StoreFile Open(string path) =>
        path.Contains(".log-", StringComparison.Ordinal) ? new LogFile(Real.Open(path)) : Real.Open(path);

    public override unsafe bool WaitOnAddress(uint* address, uint expected, TimeSpan timeout)
    {
        if (!Schedule.IsActor)
        {
            return Real.WaitOnAddress(address, expected, timeout);
        }

        Schedule.Sleep(address, expected);
        return true;
    }

    public override unsafe void WakeByAddress(uint* address, bool all)
    {
        if (Schedule.IsActor)
        {
            Schedule.Wake(address);
        }
        else
        {
            Real.WakeByAddress(address, all);
        }
    }

    private sealed class LogFile(StoreFile real) : ProxyFile(real)
    {
        public override void FlushData()
        {
            long tail = Instance.TailOfLog?.Invoke() ?? 0;
            Real.FlushData();
            Instance.FlushedTail = Math.Max(Instance.FlushedTail, tail);
        }
    }
}
