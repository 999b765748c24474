using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Cairn.Benchmarks.Measuring;

/// <summary>Reads the clocks and the allocation counter before some work of this thread, and again after it.</summary>
/// <remarks>
/// Nothing is collected before or after the work: garbage is collected when the runtime finds it due, as in an application, and
/// what the work set going on other threads, collections above all, is on its bill to the end.
/// </remarks>
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

    public static Meter Start() => new(GC.GetAllocatedBytesForCurrentThread(), CpuClock.ProcessNs(), Stopwatch.GetTimestamp());

    /// <summary>Ends, and divides by the operations done since.</summary>
    public Sample Stop(double operations)
    {
        var wall = Stopwatch.GetElapsedTime(_startedAt);
        var allocated = GC.GetAllocatedBytesForCurrentThread() - _allocatedBefore;

        // What lasts longer than the work itself is somebody else's.
        var cpuNs = CpuClock.WaitForIdleProcess(wall) - _cpuNsBefore;
        return new Sample(cpuNs / operations, wall.TotalNanoseconds / operations, allocated / operations);
    }
}
