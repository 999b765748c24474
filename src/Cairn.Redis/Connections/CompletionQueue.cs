// Outcomes on their way to their callers. The thread that received a batch of replies starts the next receive and then runs the
// callers' continuations itself, one after the other: handing each to the pool would cost more than the call. While it does, what
// those continuations send is held back until the last of them, so that a batch of replies becomes a batch of requests.
//
//   I1  A continuation that blocks delays the others of its batch, and what was held back, by no longer than two ticks of the
//       connection's timer: then another thread of the pool goes on.
//   I2  Continuations of a busy connection spread over the processors: who has drained for longer than FairShare asks for help.
using System.Collections.Concurrent;
using System.Diagnostics;

namespace Cairn.Redis.Connections;

internal sealed class CompletionQueue(Action flush) : IThreadPoolWorkItem
{
    private const int CheckEvery = 8;

    private static readonly long s_fairShare = Stopwatch.Frequency / 5_000;
    private static readonly int s_drainersAtMost = Math.Max(2, Environment.ProcessorCount);

    [ThreadStatic]
    private static CompletionQueue? t_draining;

    private readonly ConcurrentQueue<PendingCall> _queue = new();
    private int _drainers;
    private int _helpAsked;
    private int _finished;
    private int _finishedAtLastTick;
    private volatile bool _isStalled;

    /// <summary>True if this thread runs continuations and others wait behind: what they send can wait for those.</summary>
    public bool IsBatching => t_draining == this && !_queue.IsEmpty;

    public bool IsEmpty => _queue.IsEmpty;

    /// <summary>Puts an outcome into the queue and lets the pool see to it.</summary>
    public void Add(PendingCall call)
    {
        _queue.Enqueue(call);
        Wake();
    }

    /// <summary>Lets the pool see to what is in the queue, unless a thread does already.</summary>
    public void Wake()
    {
        if (!_queue.IsEmpty && (_isStalled || Volatile.Read(ref _drainers) == 0))
        {
            AskForHelp();
        }
    }

    /// <summary>Puts an outcome into the queue; the caller calls <see cref="Drain"/> soon.</summary>
    public void AddQuietly(PendingCall call) => _queue.Enqueue(call);

    /// <summary>Runs continuations until there are none left, unless another thread does.</summary>
    public void Drain()
    {
        while (!_queue.IsEmpty)
        {
            if (_isStalled)
            {
                Interlocked.Increment(ref _drainers); // Beside the one that is blocked.
            }
            else if (Interlocked.CompareExchange(ref _drainers, 1, 0) != 0)
            {
                return;
            }

            Run();
        }
    }

    /// <summary>Sees that no continuation that blocks holds up the others (I1).</summary>
    public void Tick()
    {
        int finished = Volatile.Read(ref _finished);
        if (!_queue.IsEmpty && finished == _finishedAtLastTick)
        {
            _isStalled = true;
            Volatile.Write(ref _helpAsked, 0);
            AskForHelp();
        }
        else if (_isStalled && Volatile.Read(ref _drainers) == 0)
        {
            _isStalled = false;
        }

        _finishedAtLastTick = finished;
    }

    void IThreadPoolWorkItem.Execute()
    {
        Volatile.Write(ref _helpAsked, 0);
        if (_queue.IsEmpty)
        {
            return;
        }

        // Beside a drainer that takes its time, or is blocked.
        Interlocked.Increment(ref _drainers);
        Run();
        Drain();
    }

    private void AskForHelp()
    {
        if (Interlocked.Exchange(ref _helpAsked, 1) == 0)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    private void Run()
    {
        CompletionQueue? outer = t_draining;
        t_draining = this;
        try
        {
            long startedAt = Stopwatch.GetTimestamp();
            for (int i = 1; _queue.TryDequeue(out PendingCall? call); i++)
            {
                call.Finish();
                Interlocked.Increment(ref _finished);
                if (i % CheckEvery == 0 && !_queue.IsEmpty && Stopwatch.GetTimestamp() - startedAt > s_fairShare
                    && Volatile.Read(ref _drainers) < s_drainersAtMost)
                {
                    AskForHelp();
                }
            }
        }
        finally
        {
            t_draining = outer;
            Interlocked.Decrement(ref _drainers);
        }

        flush();
    }
}
