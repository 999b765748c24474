using System.Runtime.InteropServices;

namespace Cairn.TortureTests.Workloads;

/// <summary>Signals to a process that this one started, or to itself.</summary>
internal static partial class ProcessSignals
{
    private const int ContinueSignal = 18;
    private const int StopSignal = 19;

    /// <summary>Stops this process until another lets it go on.</summary>
    public static void StopSelf() => Send(Environment.ProcessId, StopSignal);

    public static void Stop(int process) => Send(process, StopSignal);

    public static void Continue(int process) => Send(process, ContinueSignal);

    private static void Send(int process, int signal)
    {
        if (SendSignal(process, signal) != 0)
        {
            throw new InvalidOperationException(Marshal.GetLastPInvokeErrorMessage());
        }
    }

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int SendSignal(int process, int signal);
}
