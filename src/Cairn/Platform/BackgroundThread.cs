namespace Cairn.Platform;

/// <summary>
/// Starts threads for work in the background. The system refuses a thread beyond a limit of processes or memory (RLIMIT_NPROC, pids.max). Then the caller
/// does the work itself, or without it, and never waits for a thread that does not exist.
/// </summary>
internal static class BackgroundThread
{
    private static readonly AsyncLocal<bool> RefusalHook = new();

    /// <summary>Gets or sets whether threads are refused. Only tests set it, each for its own calls.</summary>
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
