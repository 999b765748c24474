using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Cairn.Benchmarks.Measuring;

/// <summary>Processor time used so far, from the kernel.</summary>
internal static partial class CpuClock
{
    private const int ProcessCpuTimeId = 2;

    // Idle is less than a hundredth of a processor for as long as a step; a step is far longer than a pause of a background collection.
    private const long IdleNs = 200_000;
    private static readonly TimeSpan IdleStep = TimeSpan.FromMilliseconds(20);

    /// <summary>Nanoseconds of all threads of this process, in user and kernel mode.</summary>
    public static long ProcessNs()
    {
        if (ClockGetTime(ProcessCpuTimeId, out var time) != 0)
        {
            throw new InvalidOperationException("The kernel has no process processor-time clock.");
        }

        return (time.Seconds * 1_000_000_000) + time.Nanoseconds;
    }

    /// <summary>
    /// Waits until no thread of this process works any more, or <paramref name="longest"/> has passed. Returns the time used until then, as
    /// <see cref="ProcessNs"/>.
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
