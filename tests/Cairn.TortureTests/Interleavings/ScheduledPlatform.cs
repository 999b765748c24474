using Cairn.Platform;

namespace Cairn.TortureTests.Interleavings;

/// <summary>
/// The system's platform with two changes. The schedule decides when its actors sleep and wake, and no time passes. The platform also records how much
/// of a log is durable.
/// </summary>
internal sealed class ScheduledPlatform : StorePlatform
{
    private static readonly StorePlatform Real = HostPlatform.Current;

    private ScheduledPlatform()
    {
    }

    public static ScheduledPlatform Instance { get; } = new();

    public override string BootId => Real.BootId;

    public override int PageSize => Real.PageSize;

    public override long? MemoryLimitBytes => Real.MemoryLimitBytes;

    /// <summary>Gets or sets the function that returns the end of the observed log; <see langword="null"/> if no log is observed.</summary>
    public Func<long>? TailOfLog { get; set; }

    /// <summary>Gets or sets the end of the log at the start of the last completed flush.</summary>
    public long FlushedTail { get; set; }

    /// <summary>Opens a store on this platform.</summary>
    public static CairnStore OpenStore(StoreOptions options)
    {
        HostPlatform.Override = Instance;
        try
        {
            return CairnStore.Open(options);
        }
        finally
        {
            HostPlatform.Override = null;
        }
    }

    public override StoreFile Open(string path) =>
        path.Contains(".log-", StringComparison.Ordinal) ? new LogFile(Real.Open(path)) : Real.Open(path);

    public override StoreFile OpenReadOnly(string path) => Real.OpenReadOnly(path);

    public override StoreFile CreateUnnamed(string directory, string nameHint) => Real.CreateUnnamed(directory, nameHint);

    public override StoreFile? TryCreate(string path) => Real.TryCreate(path);

    public override void Delete(string path) => Real.Delete(path);

    public override IReadOnlyList<string> ListNames(string directory, string prefix) => Real.ListNames(directory, prefix);

    public override void FlushDirectory(string directory) => Real.FlushDirectory(directory);

    public override void RequireSupportedFileSystem(string path) => Real.RequireSupportedFileSystem(path);

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
