namespace Cairn.Platform;

/// <summary>
/// Starts threads for work in the background. The system refuses a thread beyond a limit of processes or memory (RLIMIT_NPROC, pids.max). Then the caller
/// does the work itself, or without it, and never waits for a thread that does not exist.
/// </summary>
internal static class BackgroundThread
{
    private static readonly AsyncLocal<bool> RefusalHook = new();
    private static readonly AsyncLocal<bool> TimerHook = new();

    /// <summary>Gets or sets whether threads are refused. Only tests set it, each for its own calls.</summary>
    internal static bool IsRefused
    {
        get => RefusalHook.Value;
        set => RefusalHook.Value = value;
    }

    /// <summary>Gets or sets whether timers are refused. Only tests set it, each for its own calls.</summary>
    internal static bool AreTimersRefused
    {
        get => TimerHook.Value;
        set => TimerHook.Value = value;
    }

    /// <summary>Starts a timer of a store. The runtime starts a thread with the first timer of a process.</summary>
    /// <exception cref="StoreException">The system refuses that thread.</exception>
    public static Timer StartTimer(TimerCallback callback, object state, TimeSpan interval, string path)
    {
        if (AreTimersRefused)
        {
            throw TimerRefused(path, refusal: null);
        }

        try
        {
            return new Timer(callback, state, interval, interval);
        }
        catch (Exception refusal) when (refusal is OutOfMemoryException or ThreadStartException)
        {
            throw TimerRefused(path, refusal);
        }
    }

    /// <summary>Starts a thread without the caller's execution context, which it would keep alive.</summary>
    /// <returns>False if the system refuses it.</returns>
    public static bool TryStart(string name, ThreadStart body) => TryStart(new Thread(body) { IsBackground = true, Name = name }.UnsafeStart);

    /// <summary>Starts a thread.</summary>
    /// <returns>False if the system refuses it.</returns>
    public static bool TryStart(Thread thread) => TryStart(thread.Start);

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

    private static StoreException TimerRefused(string path, Exception? refusal) => new(
        $"The store '{path}' could not be opened, because the system refuses a thread for its timers. Raise the limits on threads, memory and open files " +
        "('ulimit -u', 'ulimit -v', 'ulimit -n'), or end other programs.",
        refusal);
}
