using System.Runtime.InteropServices;
using Cairn.Soak.Load;

namespace Cairn.Soak.Pressure;

/// <summary>Lowers the priority of a thread below others on the same processor. .NET's thread priorities have no effect on Linux.</summary>
internal static unsafe partial class ThreadRank
{
    private const int OfProcess = 0; // On Linux this means one thread.
    private const int CallingThread = 0;
    private const int Nice = 10;
    private const int RealTime = 1; // SCHED_FIFO, which chrt -f sets for a process.

    /// <summary>Gets the first words of a command that starts with the lowered priority.</summary>
    public static string[] CommandBehind => NativeGetScheduler(CallingThread) == RealTime
        ? ["chrt", "-f", "1"]
        : ["nice", "-n", LineConnection.Text(Nice)];

    /// <summary>Lowers the priority of the calling thread.</summary>
    public static void StepBack()
    {
        if (NativeGetScheduler(CallingThread) == RealTime)
        {
            int lowest = 1;
            _ = NativeSetScheduler(CallingThread, RealTime, &lowest);
        }
        else
        {
            _ = NativeSetPriority(OfProcess, CallingThread, Nice);
        }
    }

    [LibraryImport("libc", EntryPoint = "setpriority")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int NativeSetPriority(int which, int id, int nice);

    [LibraryImport("libc", EntryPoint = "sched_getscheduler")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int NativeGetScheduler(int id);

    [LibraryImport("libc", EntryPoint = "sched_setscheduler")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int NativeSetScheduler(int id, int policy, int* priority);
}
