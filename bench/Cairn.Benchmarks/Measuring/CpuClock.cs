using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Cairn.Benchmarks.Measuring;

/// <summary>Reads the processor time that this process has used, from the kernel.</summary>
internal static partial class CpuClock
{
    private const int ProcessCpuTimeId = 2;

    // The process is idle if it uses less than a hundredth of a processor during a step. A step is far longer than a pause of a
    // background collection.
    private const long IdleNs = 200_000;
    private static readonly TimeSpan IdleStep = TimeSpan.FromMilliseconds(20);

    /// <summary>Returns the processor time of all threads of this process in nanoseconds, in user and kernel mode.</summary>
    public static long ProcessNs()
    {
        if (ClockGetTime(ProcessCpuTimeId, out var time) != 0)
        {
            throw new InvalidOperationException("The kernel has no process processor-time clock.");
        }

        return (time.Seconds * 1_000_000_000) + time.Nanoseconds;
    }

    /// <summary>
    /// Waits until no thread of this process works, or until <paramref name="longest"/> has passed. Returns the processor time at that
    /// moment, as <see cref="ProcessNs"/> does.
    /// </summary>
    public static long WaitForIdleProcess(TimeSpan longest)
    {
        var startedAt = Stopwatch.GetTimestamp();
        var before = ProcessNs();
        while (Stopwatch.GetElapsedTime(startedAt) < longest)
        {
            Thread.Sleep(IdleStep);
            var now = ProcessNs();
            if (now - before < IdleNs)
            {
                break;
            }

            before = now;
        }

        return before;
    }

    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int ClockGetTime(int clockId, out TimeSpec time);

    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public long Seconds;
        public long Nanoseconds;
    }
}
