using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Cairn.Benchmarks.Measuring;

/// <summary>Reads the clocks and the allocation counter before some work of this thread, and again after it.</summary>
[StructLayout(LayoutKind.Auto)]
internal readonly struct Meter
{
    private readonly long _allocatedBefore;
    private readonly long _cpuNsBefore;
    private readonly long _startedAt;

    private Meter(long allocatedBefore, long cpuNsBefore, long startedAt)
    {
        _allocatedBefore = allocatedBefore;
        _cpuNsBefore = cpuNsBefore;
        _startedAt = startedAt;
    }

    /// <summary>Begins, with an empty young heap: what was allocated before is not this work's to collect.</summary>
    public static Meter Start()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        return new Meter(GC.GetAllocatedBytesForCurrentThread(), CpuClock.ProcessNs(), Stopwatch.GetTimestamp());
    }

    /// <summary>Ends, and divides by the operations done since.</summary>
    public Sample Stop(double operations)
    {
        var wall = Stopwatch.GetElapsedTime(_startedAt);
        var cpuNs = CpuClock.ProcessNs() - _cpuNsBefore;
        var allocated = GC.GetAllocatedBytesForCurrentThread() - _allocatedBefore;
        return new Sample(cpuNs / operations, wall.TotalNanoseconds / operations, allocated / operations);
    }
}
