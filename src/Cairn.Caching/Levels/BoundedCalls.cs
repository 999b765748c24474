using System.Diagnostics;

namespace Cairn.Caching.Levels;

/// <summary>How a call of somebody else's code ended.</summary>
internal enum CallStatus
{
    Done = 0,

    /// <summary>It threw.</summary>
    Failed,

    /// <summary>It was given up and goes on.</summary>
    TimedOut,

    /// <summary>It was not made: the circuit is open, or the time for it was used up.</summary>
    Refused,
}

/// <summary>The outcome of a call.</summary>
/// <param name="Status">How it ended.</param>
/// <param name="Value">What it returned, if it is done.</param>
/// <param name="Late">The call that goes on, if it was given up.</param>
internal readonly record struct CallResult<T>(CallStatus Status, T? Value = default, Task? Late = null)
{
    public bool IsDone => Status == CallStatus.Done;
}

// Calls of one kind to code of others, which may throw, hang before it returns a task, return one that never completes, or return none
// at all. A call ends by its time-out, whatever the code does: it runs on a thread of the pool unless the code is known to be prompt
// (PromptCode). It has the caller's ExecutionContext.
//
// Calls of a kind have a circuit of their own, beside the one of all calls: a level whose reads hang may take writes, and the other way
// round. A call is made only if both are closed.
internal sealed class BoundedCalls(string what, PromptCode code, CircuitBreaker common, DistributedLevelOptions options, LevelCounters counters, LevelLog log)
{
    /// <summary>The circuit of this kind of calls.</summary>
    public CircuitBreaker Breaker { get; } = new(options);

    /// <summary>Makes a call. Throws only if the token was cancelled.</summary>
    /// <param name="state">What the call needs.</param>
    /// <param name="call">Makes it.</param>
    /// <param name="limit">Longest wait.</param>
    /// <param name="wait">The caller's.</param>
    public ValueTask<CallResult<T>> CallAsync<TState, T>(
        TState state, Func<TState, CancellationToken, Task<T>> call, TimeSpan limit, in LevelWait wait)
    {
        wait.Token.ThrowIfCancellationRequested();
        if (wait.Deadline?.IsSpent(limit) == true)
        {
            return new(new CallResult<T>(CallStatus.Refused));
        }

        if (!TryEnter(out Passage passage))
        {
            counters.CountRefused();
            return new(new CallResult<T>(CallStatus.Refused));
        }

        return code.TryEnter()
            ? CallHereAsync(state, call, limit, wait, passage)
            : CallElsewhereAsync(state, call, limit, wait, passage);
    }

    /// <summary>Makes a call on this thread, if the code has proven to be prompt.</summary>
    /// <returns>False if no call was made, or one that did not complete at once: nobody waits for that one any more.</returns>
    public bool TryCallNow<TState, T>(TState state, Func<TState, CancellationToken, Task<T>> call, out CallResult<T> result)
    {
        result = default;
        if (!TryEnter(out Passage passage))
        {
            return false;
        }

        if (!code.TryEnter())
        {
            OnNothingLearnt(passage);
            return false;
        }

        if (TryCallHere(state, call, passage, out result, out Task<T>? running, out CancellationTokenSource cancellation))
        {
            return true;
        }

        OnNothingLearnt(passage);
        Abandon(running, cancellation);
        return false;
    }

    private ValueTask<CallResult<T>> CallHereAsync<TState, T>(
        TState state, Func<TState, CancellationToken, Task<T>> call, TimeSpan limit, in LevelWait wait, Passage passage) =>
        TryCallHere(state, call, passage, out CallResult<T> result, out Task<T>? running, out CancellationTokenSource cancellation)
            ? new(result)
            : AwaitAsync(running, cancellation, limit, wait, passage);

    // False if the call goes on, or returned no task.
    private bool TryCallHere<TState, T>(
        TState state,
        Func<TState, CancellationToken, Task<T>> call,
        Passage passage,
        out CallResult<T> result,
        out Task<T>? running,
        out CancellationTokenSource cancellation)
    {
        long startedAt = Stopwatch.GetTimestamp();
        cancellation = SpareSource.Take();
        running = null;
        result = default;
        try
        {
            running = call(state, cancellation.Token);
        }
#pragma warning disable CA1031 // Whatever an implementation of others throws, the cache goes on without it.
        catch (Exception exception)
#pragma warning restore CA1031
        {
            code.Leave(startedAt, isComplete: true);
            SpareSource.GiveBack(cancellation);
            result = Fail<T>(exception, passage);
            return true;
        }

        bool isComplete = running is { IsCompletedSuccessfully: true };
        code.Leave(startedAt, isComplete);
        if (!isComplete)
        {
            return false;
        }

        SpareSource.GiveBack(cancellation);
        Succeed(passage);
#pragma warning disable CA1849 // It has completed.
        result = new(CallStatus.Done, running!.Result);
#pragma warning restore CA1849
        return true;
    }

    private ValueTask<CallResult<T>> CallElsewhereAsync<TState, T>(
        TState state, Func<TState, CancellationToken, Task<T>> call, TimeSpan limit, in LevelWait wait, Passage passage)
    {
        var cancellation = new CancellationTokenSource();
        if (code.TryRunElsewhere(state, call, cancellation.Token, out Task<T>? running))
        {
            return AwaitAsync(running, cancellation, limit, wait, passage);
        }

        cancellation.Dispose();
        OnNothingLearnt(passage);
        counters.CountRefused();
        return new(new CallResult<T>(CallStatus.Refused));
    }

    private async ValueTask<CallResult<T>> AwaitAsync<T>(
        Task<T>? running, CancellationTokenSource cancellation, TimeSpan limit, LevelWait wait, Passage passage)
    {
        try
        {
            TimeSpan left = wait.Deadline?.Left(limit) ?? limit;
            if (running is { IsCompleted: false })
            {
                await running.WaitAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, options.Clock, wait.Token).ConfigureAwait(false);
            }

            // Null: code that returned no task.
#pragma warning disable VSTHRD003 // Code of others began it, and is not known to need this thread.
            T value = await running!.ConfigureAwait(false);
#pragma warning restore VSTHRD003
            Succeed(passage);
            cancellation.Dispose();
            return new(CallStatus.Done, value);
        }
        catch (OperationCanceledException) when (wait.Token.IsCancellationRequested)
        {
            OnNothingLearnt(passage);
            Abandon(running, cancellation);
            throw;
        }
        catch (TimeoutException) when (running is { IsCompleted: false })
        {
            counters.CountTimeout();
            log.TimedOut(what, limit);
            code.Forget();
            OnFailure(passage);
            Abandon(running, cancellation);
            return new(CallStatus.TimedOut, Late: running);
        }
#pragma warning disable CA1031 // Whatever an implementation of others throws, the cache goes on without it.
        catch (Exception exception)
#pragma warning restore CA1031
        {
            cancellation.Dispose();
            return Fail<T>(exception, passage);
        }
    }

    private bool TryEnter(out Passage passage)
    {
        passage = default;
        if (!common.TryEnter(out bool isProbeOfAll))
        {
            return false;
        }

        if (!Breaker.TryEnter(out bool isProbe))
        {
            common.OnNothingLearnt(isProbeOfAll);
            return false;
        }

        passage = new(isProbeOfAll, isProbe);
        return true;
    }

    private void Succeed(Passage passage)
    {
        common.OnSuccess(passage.IsProbeOfAll);
        Breaker.OnSuccess(passage.IsProbe);
    }

    private void OnNothingLearnt(Passage passage)
    {
        common.OnNothingLearnt(passage.IsProbeOfAll);
        Breaker.OnNothingLearnt(passage.IsProbe);
    }

    private CallResult<T> Fail<T>(Exception exception, Passage passage)
    {
        counters.CountFailure();
        log.Failed(what, exception);
        OnFailure(passage);
        return new(CallStatus.Failed);
    }

    private void OnFailure(Passage passage)
    {
        bool isOpened = common.OnFailure(passage.IsProbeOfAll);
        if (Breaker.OnFailure(passage.IsProbe) || isOpened)
        {
            counters.CountBreak();
            log.Opened(what, Math.Max(Breaker.WaitMs, common.WaitMs));
        }
    }

    private static void Abandon(Task? running, CancellationTokenSource cancellation)
    {
        // On another thread: what is registered with the token is code of others as well, and may block.
        _ = cancellation.CancelAsync();

        // No code awaits it any more, and its exception is expected.
        _ = running?.ContinueWith(static task => _ = task.Exception, CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
    }

    /// <summary>What a call that was let through reports to the circuits.</summary>
    private readonly record struct Passage(bool IsProbeOfAll, bool IsProbe);

    // A source of cancellation for each thread, used again as long as the calls it was given to completed at once. A call that did not
    // takes it along.
    private static class SpareSource
    {
        [ThreadStatic]
        private static CancellationTokenSource? t_spare;

        public static CancellationTokenSource Take()
        {
            CancellationTokenSource source = t_spare ?? new();
            t_spare = null;
            return source;
        }

        public static void GiveBack(CancellationTokenSource source) => t_spare = source;
    }
}
