namespace Cairn.Caching.Levels;

// How changes are made: at once for whoever asks, and again later, one after the other, while any is owed.
internal sealed partial class ChangeLedger
{
    /// <summary>The second level works again, it seems: what is owed is tried now.</summary>
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

    /// <summary>Tries for a bounded time to make what is owed, and takes no more changes.</summary>
    public async ValueTask CloseAsync()
    {
        lock (_gate)
        {
            _isClosed = true;

            // Nobody will watch any more (I6).
            while (_unproven.First is { } first)
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
                // However long the second level was to be left alone: this is the last chance.
                _tryNow();
                if (TakeFirst(isLast: true) is { } state && await RunAsync(state).WaitAsync(end.Token).ConfigureAwait(false))
                {
                    continue;
                }

                if (OwedCount == 0)
                {
                    // What is left is under way for a caller who waits, or only watched.
                    return;
                }

                await Task.Delay(TimeSpan.FromMilliseconds(FirstDelayMs), _options.Clock, end.Token).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException)
        {
            _log.LeftUndone(OwedCount);
        }
    }

    // Makes the newest change of a key, and those that become the newest meanwhile. Whoever set IsRunning calls it.
    private async Task<bool> RunAsync(KeyState state)
    {
        while (true)
        {
            PendingChange change;
            lock (_gate)
            {
                change = state.Newest;
            }

            AttemptResult result = await _attempt(state.Key, change).ConfigureAwait(false);
            bool isDone;
            lock (_gate)
            {
                if (result.Late is { } late)
                {
                    state.LateCalls++;
                    state.WasLate = true;
                    state.WatchedSince = _clock.NowMs;
                    _ = late.ContinueWith(
                        static (_, ended) =>
                        {
                            (ChangeLedger ledger, KeyState state, PendingChange change) = ((ChangeLedger, KeyState, PendingChange))ended!;
                            ledger.OnLateEnd(state, change);
                        },
                        (this, state, change),
                        CancellationToken.None,
                        TaskContinuationOptions.None,
                        TaskScheduler.Default);
                }

                // A newer change, or an older call that ended meanwhile and may have undone this one (I3): once more.
                if (!state.IsForgotten && (state.Newest != change || (result.IsDone && state.IsDisturbed)))
                {
                    state.IsDisturbed = false;
                    change.OnLate(_clock.NowMs);
                    continue;
                }

                state.IsDisturbed = false;
                state.IsRunning = false;
                isDone = result.IsDone || state.IsForgotten;
                if (isDone)
                {
                    Settle(state);
                }
                else
                {
                    change.OnLate(_clock.NowMs);
                    MarkOwed(state);
                    Enqueue(state);
                }

                state.Newest.Complete(result.IsDone && state.Newest == change ? LevelStatus.Done : LevelStatus.Failed);
            }

            if (!isDone)
            {
                StartWork();
            }

            return isDone;
        }
    }

    // The second level has the newest change.
    private void Settle(KeyState state)
    {
        state.IsMade = true;
        if (state.IsOwed)
        {
            _counters.CountRetried();
            state.IsOwed = false;
            LeaveWrites(state);
        }

        LeaveUnproven(state);
        state.MadeAt = _clock.NowMs;
        if (state.Newest.CanReplace && state.Newest.IsLate && !state.IsForgotten && !_hearing.IsProven(state.MadeAt))
        {
            _unproven.AddLast(state.UnprovenNode);
        }

        if (state.IsSettled)
        {
            Forget(state);
        }
    }

    // A call that was given up has ended, however (I3).
    private void OnLateEnd(KeyState state, PendingChange change)
    {
        _counters.CountLate();
        bool mustRemove = false;
        lock (_gate)
        {
            state.LateCalls--;
            if (state.IsForgotten)
            {
                // After an overflow a new era began, and what the call wrote belongs to an old one.
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
                MarkOwed(state);
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

    // The first of what is owed that may be made now; it is under way from then on. What is not known to be older than what others did
    // is waited for while hearing of them can be relied on, and gives way after that, or at the last chance (I6).
    private KeyState? TakeFirst(bool isLast)
    {
        lock (_gate)
        {
            bool isTrusted = !isLast && _hearing.IsTrusted;
            for (LinkedListNode<KeyState>? node = _queue.First; node is not null; node = node.Next)
            {
                KeyState state = node.Value;
                if (state.Newest.CanReplace && !_hearing.IsProven(state.Newest.LateSince))
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

        // What it does belongs to nobody's request.
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
            // Closed: what is left is tried by CloseAsync.
        }
    }

    // Until the time is over, or somebody knows better.
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
            // As long as was meant.
        }
    }
}
