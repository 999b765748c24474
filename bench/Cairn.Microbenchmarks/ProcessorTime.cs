using System.Runtime.InteropServices;

namespace Cairn.Microbenchmarks;

/// <summary>Processor time in nanoseconds, from the kernel of Linux.</summary>
internal static partial class ProcessorTime
{
    private const int ProcessClockId = 2;
    private const int ThreadClockId = 3;

    /// <summary>Returns the processor time of all threads of this process.</summary>
    public static long OfProcess() => Of(ProcessClockId);

    /// <summary>Returns the processor time of the calling thread.</summary>
    public static long OfThread() => Of(ThreadClockId);

    private static long Of(int clock) => ClockGetTime(clock, out TimeSpec time) == 0
        ? (time.Seconds * 1_000_000_000) + time.Nanoseconds
        : throw new InvalidOperationException("The kernel has no such clock.");

    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    private static partial int ClockGetTime(int clock, out TimeSpec time);

    private struct TimeSpec
    {
        public long Seconds;
        public long Nanoseconds;
    }
}
