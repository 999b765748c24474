namespace Cairn.Caching.Levels;

/// <summary>The outcome of a call to external code, such as an IDistributedCache.</summary>
internal enum CallStatus
{
    Done = 0,

    /// <summary>The call threw an exception.</summary>
    Failed,

    /// <summary>The call was abandoned after its time-out and is still running.</summary>
    TimedOut,

    /// <summary>The call was not made: the circuit is open, or its time was used up.</summary>
    Refused,
}

/// <summary>The result of a call.</summary>
/// <param name="Status">The outcome.</param>
/// <param name="Value">The return value, if the call is done.</param>
/// <param name="Late">The call that is still running, if it was abandoned.</param>
internal readonly record struct CallResult<T>(CallStatus Status, T? Value = default, Task? Late = null)
{
    public bool IsDone => Status == CallStatus.Done;
}

// Calls of one kind to external code. Such code may throw, hang before it returns a task, return a task that never completes, or return
// null. Every call ends by its time-out: it runs on a thread of the pool unless the code is known to be prompt (PromptCode). The call has
// the caller's ExecutionContext.
//
// Each kind of calls has a circuit breaker of its own, in addition to the common one: a second level whose reads hang may still accept
// writes, and vice versa. A call is made only if both circuits are closed.
internal sealed class BoundedCalls(string what, PromptCode code, CircuitBreaker common, DistributedLevelOptions options, LevelCounters counters, LevelLog log)
{
    /// <summary>The circuit breaker of this kind of calls.</summary>
    public CircuitBreaker Breaker { get; } = new(options);

    private bool IsTroubled => common.IsTroubled || Breaker.IsTroubled;

    /// <summary>Makes a call. Throws only if the token was cancelled.</summary>
    /// <param name="state">The argument of <paramref name="call"/>.</param>
    /// <param name="call">The function that makes the call.</param>
    /// <param name="limit">The longest wait.</param>
    /// <param name="wait">The deadline and the token of the caller.</param>
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
    /// <returns>False if no call was made, or if the call did not complete at once; such a call is abandoned.</returns>
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

    // Returns false if the call is still running or returned no task.
    private bool TryCallHere<TState, T>(
        TState state,
        Func<TState, CancellationToken, Task<T>> call,
        Passage passage,
        out CallResult<T> result,
        out Task<T>? running,
        out CancellationTokenSource cancellation)
    {
        long startedAt = Environment.TickCount64;
        SpareSource spare = SpareSource.OfThread;
        cancellation = spare.Take();
        running = null;
        result = default;
        try
        {
            running = call(state, cancellation.Token);
        }
#pragma warning disable CA1031 // External code may throw any exception; the cache continues without the result.
        catch (Exception exception)
#pragma warning restore CA1031
        {
            code.Leave(startedAt, isComplete: true);
            spare.GiveBack(cancellation);
            result = Fail<T>(exception, passage);
            return true;
        }

        bool isComplete = running is { IsCompletedSuccessfully: true };
        code.Leave(startedAt, isComplete);
        if (!isComplete)
        {
            return false;
        }

        spare.GiveBack(cancellation);
        Succeed(passage);
#pragma warning disable CA1849 // The task has completed.
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

            // Null if the code returned no task; the exception of the await then counts as a failure.
#pragma warning disable VSTHRD003 // External code started the task, and it is not known to need this thread.
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
#pragma warning disable CA1031 // External code may throw any exception; the cache continues without the result.
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
        if (!IsTroubled)
        {
            return true;
        }

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
        if (IsTroubled)
        {
            common.OnSuccess(passage.IsProbeOfAll);
            Breaker.OnSuccess(passage.IsProbe);
        }
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
        // On another thread: callbacks that are registered with the token are external code too, and may block.
        _ = cancellation.CancelAsync();

        // No code awaits the task any more. Its exception is expected and is marked as observed.
        _ = running?.ContinueWith(static task => _ = task.Exception, CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
    }

    /// <summary>The role of an admitted call, with which its outcome is reported to the circuit breakers.</summary>
    private readonly record struct Passage(bool IsProbeOfAll, bool IsProbe);

    // A CancellationTokenSource for each thread, reused as long as its calls complete at once. A call that does not complete at once keeps its
    // source. So does a call during which the external code makes another call.
    private sealed class SpareSource
    {
        [ThreadStatic]
        private static SpareSource? t_ofThread;

        private CancellationTokenSource? _source;

        public static SpareSource OfThread => t_ofThread ??= new();

        public CancellationTokenSource Take()
        {
            CancellationTokenSource source = _source ?? new();
            _source = null;
            return source;
        }

        public void GiveBack(CancellationTokenSource source) => _source = source;
    }
}
