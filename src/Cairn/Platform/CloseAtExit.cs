namespace Cairn.Platform;

// Closes stores that are still open when the process ends: normally, by SIGTERM, or by an unhandled exception.
//
// SIGINT (Ctrl+C) and SIGHUP only make the stores durable. Many programs handle SIGINT and continue for a while, and a handler that was registered earlier
// runs later than this one. So this handler cannot know whether the process ends.
//
// SIGTERM ends a process at once, unless one of its handlers cancels that. The runtime calls the newest handler first. So no store is closed if an earlier
// called handler has cancelled the signal. A generic host always cancels it, and then ends the process normally, which closes the stores.
//
// Other threads can still use a store while it is closed. An exception in one of them would turn a normal end into a crash. So a thread that finds a store
// closed while the process ends is delayed until the process has ended. The delay is limited, in case the end of the process waits for that thread.
internal static class CloseAtExit
{
    private static readonly TimeSpan LongestHold = TimeSpan.FromSeconds(5);
    private static readonly Lock Gate = new();
    private static readonly List<WeakReference<IClosedAtExit>> Stores = [];
    private static PosixSignalRegistration[]? s_signals;
    private static int s_exitThread;

    /// <summary>
    /// Registers a store to be closed at the end of the process, if it still exists and is open. The registration does not keep it alive.
    /// </summary>
    public static void Register(IClosedAtExit store)
    {
        lock (Gate)
        {
            if (s_signals is null)
            {
                AppDomain.CurrentDomain.ProcessExit += (_, _) => CloseAll();
                AppDomain.CurrentDomain.UnhandledException += (_, e) =>
                {
                    if (e.IsTerminating)
                    {
                        CloseAll();
                    }
                };
                s_signals =
                [
                    PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal),
                    PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal),
                    PosixSignalRegistration.Create(PosixSignal.SIGHUP, OnSignal),
                ];
            }

            Stores.RemoveAll(reference => !reference.TryGetTarget(out _));
            Stores.Add(new WeakReference<IClosedAtExit>(store));
        }
    }

    public static void Forget(IClosedAtExit store)
    {
        lock (Gate)
        {
            Stores.RemoveAll(reference => !reference.TryGetTarget(out IClosedAtExit? target) || target == store);
        }
    }

    /// <summary>Delays the calling thread if the process ends. Called after a store was found closed and before the exception is thrown.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void HoldBack()
    {
        int exitThread = Volatile.Read(ref s_exitThread);
        if (exitThread != 0 && exitThread != Environment.CurrentManagedThreadId)
        {
            Thread.Sleep(LongestHold);
        }
    }

    private static void OnSignal(PosixSignalContext context)
    {
        if (context.Signal != PosixSignal.SIGTERM)
        {
            FlushAll();
        }
        else if (!context.Cancel && !HasHost())
        {
            CloseAll();
        }
    }

    private static bool HasHost() =>
        Array.Exists(AppDomain.CurrentDomain.GetAssemblies(), assembly => assembly.GetName().Name == "Microsoft.Extensions.Hosting");

    private static void FlushAll()
    {
        List<WeakReference<IClosedAtExit>> stores;
        lock (Gate)
        {
            stores = [.. Stores];
        }

        foreach (WeakReference<IClosedAtExit> reference in stores)
        {
            if (reference.TryGetTarget(out IClosedAtExit? store))
            {
                Try(store.Flush);
            }
        }
    }

    private static void CloseAll()
    {
        List<WeakReference<IClosedAtExit>> stores;
        lock (Gate)
        {
            Volatile.Write(ref s_exitThread, Environment.CurrentManagedThreadId);
            stores = [.. Stores];
            Stores.Clear();
        }

        foreach (WeakReference<IClosedAtExit> reference in stores)
        {
            if (reference.TryGetTarget(out IClosedAtExit? store))
            {
                Try(store.Dispose);
            }
        }
    }

    private static void Try(Action action)
    {
        try
        {
            action();
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or ObjectDisposedException)
        {
            // The other stores are closed or flushed nevertheless. The failure cannot be reported to a caller any more. The next opening reports the store's state.
        }
    }
}
