namespace Cairn.Caching.Levels;

// How changes are made: at once for the caller that requests them, and again later, one after the other, while any is pending.
internal sealed partial class WriteBehindQueue
{
    /// <summary>Retries pending changes now, because the second level seems to work again.</summary>
    public void Hasten()
    {
        TaskCompletionSource? pause;
        lock (_gate)
        {
            pause = _pause;
            _pause = null;
        }

        pause?.TrySetResult();
    }

    /// <summary>Tries for a limited time to make the pending changes. New changes are refused from now on.</summary>
    public async ValueTask CloseAsync()
    {
        lock (_gate)
        {
            _isClosed = true;

            // Changes of other machines will not be watched any more, so unconfirmed changes are replaced now (I6).
            while (_unconfirmed.First is { } first)
            {
                GiveWay(first.Value);
            }
        }

        await _stop.CancelAsync().ConfigureAwait(false);
        if (_stateCount == 0)
        {
            return;
        }

        using var end = new CancellationTokenSource(_options.FlushTimeout, _options.Clock);
        try
        {
            while (_stateCount > 0)
            {
                // Open circuits do not delay these attempts: they are the last ones.
                _tryNow();
                if (TakeFirst(isLast: true) is { } state && await RunAsync(state).WaitAsync(end.Token).ConfigureAwait(false))
                {
                    continue;
                }

                if (PendingCount == 0)
                {
                    // The remaining changes are under way for a waiting caller, or are only watched.
                    return;
                }

                await Task.Delay(TimeSpan.FromMilliseconds(FirstDelayMs), _options.Clock, end.Token).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException)
        {
            _log.LeftUndone(PendingCount);
        }
    }

    // Makes the newest change of a key, and any newer ones that arrive meanwhile. Called by the code that has set IsRunning.
    private Task<bool> RunAsync(KeyState state)
    {
        PendingChange change;
        lock (_gate)
        {
            change = state.Newest;
        }

        return RunAsync(state, change, _attempt(state.Key, change));
    }

    // Continues after the first attempt has started.
    private async Task<bool> RunAsync(KeyState state, PendingChange change, ValueTask<AttemptResult> attempt)
    {
        while (true)
        {
            AttemptResult result = await attempt.ConfigureAwait(false);
            if (TryEnd(state, ref change, result, out bool isDone))
            {
                if (!isDone)
                {
                    StartWork();
                }

                return isDone;
            }

            attempt = _attempt(state.Key, change);
        }
    }

    // Returns false if another attempt is needed, with the change that is the newest by now.
    private bool TryEnd(KeyState state, ref PendingChange change, AttemptResult result, out bool isDone)
    {
        lock (_gate)
        {
            if (result.Late is { } late)
            {
                Watch(late, state, change);
            }

            // A newer change has arrived, or an older call has ended meanwhile and may have undone this one (I3): another attempt is needed.
            bool isRepeated = !state.IsForgotten && (state.Newest != change || (result.IsDone && state.IsDisturbed));
            isDone = !isRepeated && (result.IsDone || state.IsForgotten);
            state.IsDisturbed = false;
            if (isRepeated)
            {
                change.OnLate(_clock.NowMs);
                change = state.Newest;
                return false;
            }

            state.IsRunning = false;
            if (isDone)
            {
                Settle(state);
            }
            else
            {
                change.OnLate(_clock.NowMs);
                MarkPending(state);
                Enqueue(state);
            }

            state.Newest.Complete(result.IsDone && state.Newest == change ? LevelStatus.Done : LevelStatus.Failed);
            return true;
        }
    }

    private void Watch(Task late, KeyState state, PendingChange change)
    {
        state.LateCalls++;
        state.WasLate = true;
        state.WatchedSince = _clock.NowMs;
        _ = late.ContinueWith(
            static (_, ended) =>
            {
                (WriteBehindQueue queue, KeyState state, PendingChange change) = ((WriteBehindQueue, KeyState, PendingChange))ended!;
                queue.OnLateEnd(state, change);
            },
            (this, state, change),
            CancellationToken.None,
            TaskContinuationOptions.None,
            TaskScheduler.Default);
    }

    // Records that the second level has the newest change.
    private void Settle(KeyState state)
    {
        state.IsMade = true;
        if (state.HasPendingChange)
        {
            _counters.CountRetried();
            state.HasPendingChange = false;
            LeaveWrites(state);
        }

        RemoveFromUnconfirmed(state);
        state.MadeAt = _clock.NowMs;
        if (state.Newest.CanReplace && state.Newest.IsLate && !state.IsForgotten && !_liveness.IsProven(state.MadeAt))
        {
            _unconfirmed.AddLast(state.UnconfirmedNode);
        }

        if (state.IsSettled)
        {
            Forget(state);
        }
    }

    // Handles the end of an abandoned call, successful or not (I3).
    private void OnLateEnd(KeyState state, PendingChange change)
    {
        _counters.CountLate();
        bool mustRemove = false;
        lock (_gate)
        {
            state.LateCalls--;
            if (state.IsForgotten)
            {
                // After an overflow a new era has begun, and the value of the late call belongs to an old one.
                mustRemove = !state.IsOverflown;
            }
            else if (state.IsRunning)
            {
                state.IsDisturbed |= state.Newest != change;
            }
            else if (state.IsMade && state.Newest != change)
            {
                state.IsMade = false;
                state.Newest.OnLate(_clock.NowMs);
                MarkPending(state);
                Enqueue(state);
            }
            else if (state.IsSettled)
            {
                Forget(state);
            }
        }

        if (mustRemove)
        {
            _ = RemoveLateAsync(state.Key);
        }
        else
        {
            StartWork();
        }
    }

    private async Task RemoveLateAsync(string key) =>
        await ApplyAsync(key, new PendingChange(ChangeKind.Remove), lease: null, CancellationToken.None).ConfigureAwait(false);

    // Takes the first pending change that may be made now; it counts as under way from then on. A change that other machines may have overtaken
    // waits while the channel is live. After that, or at the last attempt, it is replaced (I6).
    private KeyState? TakeFirst(bool isLast)
    {
        lock (_gate)
        {
            bool isTrusted = !isLast && _liveness.IsTrusted;
            for (LinkedListNode<KeyState>? node = _queue.First; node is not null; node = node.Next)
            {
                KeyState state = node.Value;
                if (state.Newest.CanReplace && !_liveness.IsProven(state.Newest.LateSince))
                {
                    if (isTrusted)
                    {
                        continue;
                    }

                    GiveWay(state);
                }

                BeginRun(state);
                return state;
            }

            return null;
        }
    }

    private void StartWork()
    {
        lock (_gate)
        {
            if (_isWorking || _isClosed || _queue.Count == 0)
            {
                return;
            }

            _isWorking = true;
        }

        // This work belongs to no request, so it must not have a request's ExecutionContext.
        using (ExecutionContext.SuppressFlow())
        {
            _ = Task.Run(WorkAsync);
        }
    }

    private async Task WorkAsync()
    {
        try
        {
            long delayMs = FirstDelayMs;
            while (true)
            {
                long waitMs = Math.Max(delayMs, _waitMs());
                if (waitMs > 0)
                {
                    await PauseAsync(TimeSpan.FromMilliseconds(waitMs)).ConfigureAwait(false);
                }

                lock (_gate)
                {
                    if (_queue.Count == 0 || _isClosed)
                    {
                        _isWorking = false;
                        return;
                    }
                }

                if (TakeFirst(isLast: false) is not { } state)
                {
                    delayMs = FirstDelayMs;
                    continue;
                }

                bool isDone = await RunAsync(state).ConfigureAwait(false);
                delayMs = isDone ? 0 : Math.Clamp(delayMs * 2, FirstDelayMs, LongestDelayMs);
            }
        }
        catch (OperationCanceledException)
        {
            // The queue was closed: CloseAsync tries the remaining changes.
        }
    }

    // Waits for the given time, or until Hasten ends the wait.
    private async Task PauseAsync(TimeSpan time)
    {
        var pause = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            _pause = pause;
        }

        try
        {
            await pause.Task.WaitAsync(time, _options.Clock, _stopToken).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // The full time has passed.
        }
    }
}
