using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Cairn.Platform;

// Closes stores that nobody closed when the process ends: normally, by SIGTERM, or by an exception that nobody handles.
//
// SIGTERM ends a process at once, unless one of its handlers says that it goes on; the runtime asks the newest first. So nothing is
// closed if one that was asked before has said so, nor where there is a generic host, which always does: what it does then is a normal end.
//
// Other threads may still use them then. An exception in one of them would turn a clean end into a crash, so whoever finds a store closed
// while the process ends is held back until it has; but not for ever, in case somebody waits for that thread before the process can end.
internal static class CloseAtExit
{
    private static readonly TimeSpan LongestHold = TimeSpan.FromSeconds(5);
    private static readonly Lock Gate = new();
    private static readonly List<WeakReference<IDisposable>> Stores = [];
    private static PosixSignalRegistration? s_signal;
    private static int s_exitThread;

    /// <summary>Closes the store at the process' end, if it is still there and open. Does not keep it alive.</summary>
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

    /// <summary>Called where a store was found closed, before that is made an exception.</summary>
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
            // The others are closed all the same. Nobody is left to be told; the store says so itself when it is opened next.
        }
    }
}
