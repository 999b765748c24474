using System.Collections.Concurrent;

namespace Cairn.TortureTests.Interleavings;

/// <summary>A thread that runs one actor after the other, because starting a thread takes longer than most schedules.</summary>
internal sealed class ActorThread
{
    private static readonly ConcurrentBag<ActorThread> Idle = [];

    private readonly object _gate = new();
    private Action? _action;

    private ActorThread() => new Thread(Work, maxStackSize: 512 * 1024) { IsBackground = true }.Start();

    /// <summary>Runs an action that does not throw.</summary>
    public static void Run(Action action)
    {
        if (!Idle.TryTake(out ActorThread? thread))
        {
            thread = new ActorThread();
        }

        lock (thread._gate)
        {
            thread._action = action;
            Monitor.Pulse(thread._gate);
        }
    }

    private void Work()
    {
        while (true)
        {
            Next()();
            Idle.Add(this);
        }
    }

    private Action Next()
    {
        lock (_gate)
        {
            while (_action is null)
            {
                Monitor.Wait(_gate);
            }

            Action action = _action;
            _action = null;
            return action;
        }
    }
}
