using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;

namespace Cairn.Testing;

/// <summary>Sends signals to a process that this one started, or to itself.</summary>
internal static partial class ProcessSignals
{
    private const int ContinueSignal = 18;
    private const int StopSignal = 19;
    private const int InterruptSignal = 2;
    private const int TerminateSignal = 15;

    private static readonly TimeSpan LongestWait = TimeSpan.FromMinutes(1);

    /// <summary>Stops this process within the call, until another process continues it.</summary>
    /// <remarks>The signal goes to this thread. If another thread received it, this thread could execute further steps.</remarks>
    public static void StopSelf()
    {
        if (SendSignalToThread(Environment.ProcessId, CurrentThread(), StopSignal) != 0)
        {
            throw new InvalidOperationException(Marshal.GetLastPInvokeErrorMessage());
        }
    }

    /// <summary>Waits until a process has stopped itself. Returns false if <paramref name="orUntil"/> completed first.</summary>
    /// <exception cref="TimeoutException">The process did not stop within a minute.</exception>
    public static bool WaitUntilStopped(int process, Task? orUntil = null)
    {
        long start = Stopwatch.GetTimestamp();
        while (StateOf(process) != 'T')
        {
            if (orUntil is { IsCompleted: true })
            {
                return false;
            }

            if (Stopwatch.GetElapsedTime(start) > LongestWait)
            {
                throw new TimeoutException($"Process {process} did not stop; its state is {StateOf(process)}.");
            }

            Thread.Sleep(1); // No event reports the stop. The process needs the processor more.
        }

        return true;
    }

    /// <summary>Stops a process, and returns when it has stopped.</summary>
    public static void Stop(int process)
    {
        Send(process, StopSignal);
        WaitUntilStopped(process);
    }

    public static void Continue(int process) => Send(process, ContinueSignal);

    /// <summary>Asks a process to end.</summary>
    public static void Terminate(int process) => Send(process, TerminateSignal);

    /// <summary>Sends the signal of Ctrl+C.</summary>
    public static void Interrupt(int process) => Send(process, InterruptSignal);

    // "1234 (name) T ...": the name can contain anything, including parentheses.
    private static char StateOf(int process)
    {
        string status = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{process}/stat"));
        return status[status.LastIndexOf(')') + 2];
    }

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

    [LibraryImport("libc", EntryPoint = "tgkill", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int SendSignalToThread(int process, int thread, int signal);

    [LibraryImport("libc", EntryPoint = "gettid")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int CurrentThread();
}
