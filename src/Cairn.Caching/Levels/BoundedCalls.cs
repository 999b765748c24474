namespace Cairn.Caching.Levels;

/// <summary>How a call of somebody else's code ended.</summary>
internal enum CallStatus
{
    Done = 0,

    /// <summary>It threw.</summary>
    Failed,

    /// <summary>It was given up and goes on.</summary>
    TimedOut,

    /// <summary>It was not made: the circuit is open.</summary>
    Refused,
}

/// <summary>The outcome of a call.</summary>
/// <param name="Status">How it ended.</param>
/// <param name="Value">What it returned, if it is done.</param>
/// <param name="Late">The call that goes on, if it was given up.</param>
internal readonly record struct CallResult<T>(CallStatus Status, T? Value = default, Task? Late = null);

// Calls code of others that may throw, hang before it returns a task, return one that never completes, or return none at all. A
// call ends by its time-out, whatever the code does. Each set of calls has its circuit breaker.
//
// The code runs on a thread of the pool unless it is known not to block, with the caller's ExecutionContext.
internal sealed class BoundedCalls(string what, bool isInline, DistributedLevelOptions options, LevelCounters counters, LevelLog log)
{
    public CircuitBreaker Breaker { get; } = new(options);

    /// <summary>Makes a call. Throws only if the token was cancelled.</summary>
    public async ValueTask<CallResult<T>> CallAsync<TState, T>(
        TState state, Func<TState, CancellationToken, Task<T>> call, TimeSpan timeout, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (!Breaker.TryEnter(out bool isProbe))
        {
            counters.CountRefused();
            return new(CallStatus.Refused);
        }

        Task<T>? running = null;
        CancellationTokenSource? cancellation = null;
        try
        {
            if (isInline)
            {
                running = call(state, CancellationToken.None);
            }
            else
            {
                cancellation = new CancellationTokenSource();
                CancellationToken token = cancellation.Token;
                running = Task.Run(() => call(state, token), CancellationToken.None);
            }

            T value = running.IsCompleted
                ? await running.ConfigureAwait(false)
                : await running.WaitAsync(timeout, options.Clock, cancellationToken).ConfigureAwait(false);
            Breaker.OnSuccess(isProbe);
            cancellation?.Dispose();
            return new(CallStatus.Done, value);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            Breaker.OnNothingLearnt(isProbe);
            Abandon(running, cancellation);
            throw;
        }
        catch (TimeoutException) when (running is { IsCompleted: false })
        {
            counters.CountTimeout();
            log.TimedOut(what, timeout);
            OnFailure(isProbe);
            Abandon(running, cancellation);
            return new(CallStatus.TimedOut, Late: running);
        }
#pragma warning disable CA1031 // Whatever an implementation of others throws, the cache goes on without it.
        catch (Exception exception)
#pragma warning restore CA1031
        {
            counters.CountFailure();
            log.Failed(what, exception);
            OnFailure(isProbe);
            cancellation?.Dispose();
            return new(CallStatus.Failed);
        }
    }

    private void OnFailure(bool isProbe)
    {
        if (Breaker.OnFailure(isProbe))
        {
            counters.CountBreak();
            log.Opened(what, Breaker.WaitMs);
        }
    }

    private static void Abandon(Task? running, CancellationTokenSource? cancellation)
    {
        // On another thread: what is registered with the token is code of others as well, and may block.
        _ = cancellation?.CancelAsync();

        // Nobody awaits it any more; its exception is nobody's surprise.
        _ = running?.ContinueWith(static task => _ = task.Exception, CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
    }
}
