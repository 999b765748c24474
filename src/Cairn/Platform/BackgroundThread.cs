namespace Cairn.Platform;

/// <summary>
/// Starts threads for work in the background. The system refuses a thread beyond a limit of processes or memory (RLIMIT_NPROC, pids.max). Then the caller
/// does the work itself, or without it, and never waits for a thread that does not exist.
/// </summary>
internal static class BackgroundThread
{
    private static readonly AsyncLocal<bool> RefusalHook = new();

    /// <summary>Gets or sets whether threads are refused in the calls of one test.</summary>
    internal static bool IsRefused
    {
        get => RefusalHook.Value;
        set => RefusalHook.Value = value;
    }

    /// <summary>Starts a thread without the caller's execution context, which it would keep alive.</summary>
    /// <returns>False if the system refuses it.</returns>
    public static bool TryStart(string name, ThreadStart body) => TryStart(new Thread(body) { IsBackground = true, Name = name }.UnsafeStart);

    /// <summary>Starts a thread.</summary>
    /// <returns>False if the system refuses it.</returns>
    public static bool TryStart(Thread thread) => TryStart(thread.Start);

    /// <summary>Runs an action on a thread of its own.</summary>
    /// <returns>False if the system refuses the thread.</returns>
    public static bool TryRun<T>(Func<Task<T>> action, [NotNullWhen(true)] out Task<T>? running)
    {
        running = null;
        if (IsRefused)
        {
            return false;
        }

        try
        {
            running = Task.Factory.StartNew(action, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default).Unwrap();
            return true;
        }
        catch (TaskSchedulerException)
        {
            return false;
        }
    }

    private static bool TryStart(Action start)
    {
        if (IsRefused)
        {
            return false;
        }

        try
        {
            start();
            return true;
        }
        catch (Exception refusal) when (refusal is OutOfMemoryException or ThreadStartException)
        {
            return false;
        }
    }
}
