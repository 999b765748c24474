using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Cairn.Platform;

// Closes stores that are still open when the process ends: normally, by SIGTERM, or by an unhandled exception.
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
    private static readonly List<WeakReference<IDisposable>> Stores = [];
    private static PosixSignalRegistration? s_signal;
    private static int s_exitThread;

    /// <summary>
    /// Registers a store to be closed at the end of the process, if it still exists and is open. The registration does not keep it alive.
    /// </summary>
    public static void Register(IDisposable store)
    {
        lock (Gate)
        {
            if (s_signal is null)
            {
                AppDomain.CurrentDomain.ProcessExit += (_, _) => CloseAll();
                AppDomain.CurrentDomain.UnhandledException += (_, e) =>
                {
                    if (e.IsTerminating)
                    {
                        CloseAll();
                    }
                };
                s_signal = PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal);
            }

            Stores.RemoveAll(reference => !reference.TryGetTarget(out _));
            Stores.Add(new WeakReference<IDisposable>(store));
        }
    }

    public static void Forget(IDisposable store)
    {
        lock (Gate)
        {
            Stores.RemoveAll(reference => !reference.TryGetTarget(out IDisposable? target) || target == store);
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
        if (!context.Cancel && !HasHost())
        {
            CloseAll();
        }
    }

    private static bool HasHost() =>
        Array.Exists(AppDomain.CurrentDomain.GetAssemblies(), assembly => assembly.GetName().Name == "Microsoft.Extensions.Hosting");

    private static void CloseAll()
    {
        List<WeakReference<IDisposable>> stores;
        lock (Gate)
        {
            Volatile.Write(ref s_exitThread, Environment.CurrentManagedThreadId);
            stores = [.. Stores];
            Stores.Clear();
        }

        foreach (WeakReference<IDisposable> reference in stores)
        {
            if (reference.TryGetTarget(out IDisposable? store))
            {
                Close(store);
            }
        }
    }

    private static void Close(IDisposable store)
    {
        try
        {
            store.Dispose();
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or ObjectDisposedException)
        {
            // The other stores are closed all the same. The failure cannot be reported to a caller any more. The next opening reports the store's state.
        }
    }
}
