// Calls with an outcome that wait to be completed. The thread that received a batch of replies starts the next receive. Then it runs the
// callers' continuations itself, one after the other, because passing each to the thread pool would cost more than the call. Requests that
// these continuations send are held back until the last continuation has run, so that a batch of replies causes a batch of requests.
//
//   I1  A continuation that blocks delays the others of its batch, and the requests held back, by at most two ticks of the connection's
//       timer. Then another thread of the pool takes over.
//   I2  Continuations of a busy connection spread over the processors: a thread that has drained for longer than s_fairShare requests help.
using System.Collections.Concurrent;

namespace Cairn.Clients.Connections;

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

    /// <summary>Gets whether this thread runs continuations and more are queued, so that requests can be held back.</summary>
    public bool IsBatching => t_draining == this && !_queue.IsEmpty;

    public bool IsEmpty => _queue.IsEmpty;

    /// <summary>Adds a call with an outcome, and queues work to the thread pool.</summary>
    public void Add(PendingCall call)
    {
        _queue.Enqueue(call);
        Wake();
    }

    /// <summary>Queues work to the thread pool if the queue has entries that no thread drains.</summary>
    public void Wake()
    {
        if (!_queue.IsEmpty && (_isStalled || Volatile.Read(ref _drainers) == 0))
        {
            AskForHelp();
        }
    }

    /// <summary>Adds a call with an outcome. The caller calls <see cref="Drain"/> soon.</summary>
    public void AddQuietly(PendingCall call) => _queue.Enqueue(call);

    /// <summary>Runs continuations until the queue is empty. Returns if another thread drains it already.</summary>
    public void Drain()
    {
        while (!_queue.IsEmpty)
        {
            if (_isStalled)
            {
                Interlocked.Increment(ref _drainers); // Runs in addition to the blocked thread.
            }
            else if (Interlocked.CompareExchange(ref _drainers, 1, 0) != 0)
            {
                return;
            }

            Run();
        }
    }

    /// <summary>Detects a continuation that blocks, and lets another thread run the rest (I1). The connection's timer calls it.</summary>
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

        // Runs in addition to a drainer that is slow or blocked.
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
