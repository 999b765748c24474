using System.Runtime.InteropServices;
using Cairn.Soak.Load;

namespace Cairn.Soak.Pressure;

/// <summary>Lets a thread step back behind others on the same processor, which .NET's thread priorities do not do on Linux.</summary>
internal static unsafe partial class ThreadRank
{
    private const int OfProcess = 0; // Which is a thread on Linux.
    private const int CallingThread = 0;
    private const int Nice = 10;
    private const int RealTime = 1; // SCHED_FIFO, which chrt -f gives to a process.

    /// <summary>What begins a command that steps back, as the calling thread would.</summary>
    public static string[] CommandBehind => NativeGetScheduler(CallingThread) == RealTime
        ? ["chrt", "-f", "1"]
        : ["nice", "-n", LineConnection.Text(Nice)];

    /// <summary>Has the calling thread step back.</summary>
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
