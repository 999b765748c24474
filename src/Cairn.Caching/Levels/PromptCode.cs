using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Cairn.Caching.Levels;

// Whether code of others may run on the caller's thread. A call on another thread can be given up even if the code blocks, and costs
// several times what a cache in memory takes. So code has to earn the caller's thread: call after call it returned a task that had
// completed, within microseconds, which only code does that works in memory.
//
//   0 --a prompt call--> 1 ... ProvenCalls --trusted--> ... Most
//         a call that is late, or whose task has not completed: back by Setback; one that was given up: back to 0
//
//   I1  At most as many calls run on their callers' threads at a time as there are processors: code that computes needs no more. If it
//       blocks after all, that many callers are held up, and all others wait no longer than their time-outs.
//   I2  Calls elsewhere begin on threads of the pool while few are inside code of others at a time. A call that finds more of them inside
//       gets a thread of its own, since they may be blocked and the pool needs its threads for all others. Beyond MostBlocked none is made.
internal sealed class PromptCode
{
    private const int ProvenCalls = 256;
    private const int Most = 4 * ProvenCalls;
    private const int Setback = 2 * ProvenCalls;
    private const int MostBlocked = 64;
    private static readonly long s_promptTicks = Stopwatch.Frequency / 20_000; // 50 microseconds: no network answers within that.
    private static readonly long s_lateTicks = Stopwatch.Frequency / 1000; // A thread that was interrupted is not late yet.
    private static readonly int s_atOnce = Environment.ProcessorCount;
    private static readonly int s_onPool = Math.Max(1, Environment.ProcessorCount / 2);

    private readonly bool _isKnown;

    // Races lose a count or two, no more.
    private int _proven;
    private int _inside;
    private int _insideElsewhere;

    /// <summary>Creates one that knows nothing of the code yet.</summary>
    /// <param name="isKnown">True if the code is known not to block.</param>
    public PromptCode(bool isKnown) => _isKnown = isKnown;

    /// <summary>True if a call may run on the caller's thread. <see cref="Leave"/> must follow.</summary>
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

    /// <summary>A call on the caller's thread has returned.</summary>
    /// <param name="startedAt">When it began, as <see cref="Stopwatch"/> has it.</param>
    /// <param name="isComplete">True if its task had completed.</param>
    public void Leave(long startedAt, bool isComplete)
    {
        if (!_isKnown)
        {
            Interlocked.Decrement(ref _inside);
            Count(isComplete && Stopwatch.GetTimestamp() - startedAt < s_lateTicks);
        }
    }

    /// <summary>Runs the beginning of a call on another thread, until it has returned its task.</summary>
    /// <returns>False if too many calls have not returned their tasks (I2).</returns>
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

        running = inside <= s_onPool
            ? Task.Run(BeginAsync, CancellationToken.None)
            : Task.Factory.StartNew(BeginAsync, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default).Unwrap();
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

    /// <summary>A call was given up.</summary>
    public void Forget() => Volatile.Write(ref _proven, 0);

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
