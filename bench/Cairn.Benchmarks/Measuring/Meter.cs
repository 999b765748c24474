using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Cairn.Benchmarks.Measuring;

/// <summary>Reads the clocks and the allocation counter before some work of this thread, and again after it.</summary>
/// <remarks>
/// No garbage collection is forced before or after the work. The runtime collects when it decides to, as in an application. Work that
/// the measured code starts on other threads, above all garbage collections, counts until it ends.
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

    /// <summary>Stops measuring and divides the costs by the number of operations.</summary>
    public Sample Stop(double operations)
    {
        var wall = Stopwatch.GetElapsedTime(_startedAt);
        var allocated = GC.GetAllocatedBytesForCurrentThread() - _allocatedBefore;

        // Waits at most as long as the work took. Anything that lasts longer does not belong to the work.
        var cpuNs = CpuClock.WaitForIdleProcess(wall) - _cpuNsBefore;
        return new Sample(cpuNs / operations, wall.TotalNanoseconds / operations, allocated / operations);
    }
}
