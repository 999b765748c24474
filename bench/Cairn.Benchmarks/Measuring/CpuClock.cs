using System.Runtime.InteropServices;

namespace Cairn.Benchmarks.Measuring;

/// <summary>Processor time used so far, from the kernel.</summary>
internal static partial class CpuClock
{
    private const int ProcessCpuTimeId = 2;

    /// <summary>Nanoseconds of all threads of this process, in user and kernel mode.</summary>
    public static long ProcessNs()
    {
        if (ClockGetTime(ProcessCpuTimeId, out var time) != 0)
        {
            throw new InvalidOperationException("The kernel has no process processor-time clock.");
        }

        return (time.Seconds * 1_000_000_000) + time.Nanoseconds;
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
