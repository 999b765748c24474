using Cairn.Platform;

namespace Cairn.Caching.Levels;

// Decides whether external code may run on the caller's thread. A call on another thread can be abandoned even if the code blocks, but costs
// several times as much as a call of a cache in memory. So code runs on the caller's thread only after many calls in a row have returned
// completed tasks within microseconds. Only code that works in memory does that.
//
//   0 --a prompt call--> 1 ... ProvenCalls --trusted--> ... Most
//         a late call, or one with an incomplete task: lower by Setback; an abandoned call: 0
//
//   I1  The number of calls that run on their callers' threads at a time is at most the number of processors: code that computes needs no
//       more. If the code blocks nevertheless, that many callers are held up, and all others wait no longer than their time-outs.
//   I2  Calls on other threads start on the pool while few calls are inside external code. A call that finds more of them inside gets a
//       thread of its own: they may be blocked, and the process needs the pool's threads. Beyond MostBlocked no call is made.
internal sealed class PromptCode
{
    private const int ProvenCalls = 256;
    private const int Most = 4 * ProvenCalls;
    private const int Setback = 2 * ProvenCalls;
    private const int MostBlocked = 64;
    private static readonly long s_promptTicks = Stopwatch.Frequency / 20_000; // 50 microseconds: no network answers in that time.
    private static readonly int s_atOnce = Environment.ProcessorCount;
    private static readonly int s_onPool = Math.Max(1, Environment.ProcessorCount / 2);

    private readonly bool _isKnown;

    // Not synchronized: a race loses a count or two, which does no harm.
    private int _proven;
    private int _inside;
    private int _insideElsewhere;

    /// <summary>Creates an instance that has not seen a call yet.</summary>
    /// <param name="isKnown">True if the code is known not to block.</param>
    public PromptCode(bool isKnown) => _isKnown = isKnown;

    /// <summary>Returns true if a call may run on the caller's thread. <see cref="Leave"/> must follow.</summary>
    public bool TryEnter()
    {
        if (_isKnown)
        {
            return true;
        }

        if (Volatile.Read(ref _proven) < ProvenCalls)
        {
            return false;
        }

        if (Interlocked.Increment(ref _inside) <= s_atOnce)
        {
            return true; // I1
        }

        Interlocked.Decrement(ref _inside);
        return false;
    }

    /// <summary>Reports that a call on the caller's thread has returned.</summary>
    /// <param name="startedAt">The start of the call, by <see cref="Environment.TickCount64"/>.</param>
    /// <param name="isComplete">True if the call's task had completed.</param>
    public void Leave(long startedAt, bool isComplete)
    {
        if (!_isKnown)
        {
            // This clock steps every few milliseconds and costs a fraction of the finer one. It rarely steps during a prompt call, and one
            // such step does not end an established trust. It mostly steps during calls that take as long as its step.
            Interlocked.Decrement(ref _inside);
            Count(isComplete && Environment.TickCount64 == startedAt);
        }
    }

    /// <summary>Runs the synchronous part of a call on another thread, until it has returned its task.</summary>
    /// <returns>False if too many calls have not returned their tasks (I2), or if the system refuses another thread.</returns>
    public bool TryRunElsewhere<TState, T>(
        TState state, Func<TState, CancellationToken, Task<T>> call, CancellationToken token, [NotNullWhen(true)] out Task<T>? running)
    {
        int inside = Interlocked.Increment(ref _insideElsewhere);
        if (inside > MostBlocked)
        {
            Interlocked.Decrement(ref _insideElsewhere);
            running = null;
            return false;
        }

        if (inside <= s_onPool)
        {
            running = Task.Run(BeginAsync, CancellationToken.None);
        }
        else if (!TryRunOnThread(BeginAsync, out running))
        {
            Interlocked.Decrement(ref _insideElsewhere);
            return false;
        }

        return true;

        Task<T> BeginAsync()
        {
            long startedAt = Stopwatch.GetTimestamp();
            bool isComplete = false;
            try
            {
                Task<T> made = call(state, token);
                isComplete = made is { IsCompletedSuccessfully: true };
                return made;
            }
            finally
            {
                Interlocked.Decrement(ref _insideElsewhere);
                if (!_isKnown)
                {
                    Count(isComplete && Stopwatch.GetTimestamp() - startedAt < s_promptTicks);
                }
            }
        }
    }

    /// <summary>Reports that a call was abandoned: the trust is lost.</summary>
    public void Forget() => Volatile.Write(ref _proven, 0);

    // Returns false if the system refuses a thread.
    private static bool TryRunOnThread<T>(Func<Task<T>> begin, [NotNullWhen(true)] out Task<T>? running)
    {
        running = null;
        if (BackgroundThread.IsRefused)
        {
            return false;
        }

        try
        {
            running = Task.Factory.StartNew(begin, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default).Unwrap();
            return true;
        }
        catch (TaskSchedulerException)
        {
            return false;
        }
    }

    private void Count(bool isPrompt)
    {
        int proven = _proven;
        if (!isPrompt)
        {
            _proven = Math.Max(0, proven - Setback);
        }
        else if (proven < Most)
        {
            _proven = proven + 1;
        }
    }
}
