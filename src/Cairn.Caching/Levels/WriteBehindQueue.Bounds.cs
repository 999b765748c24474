namespace Cairn.Caching.Levels;

// The limits of the write-behind queue, and the removal of keys from it (I5).
internal sealed partial class WriteBehindQueue
{
    private void MarkPending(KeyState state)
    {
        if (state.HasPendingChange || state.IsForgotten)
        {
            return;
        }

        state.HasPendingChange = true;
        state.WasLate = true;
        JoinWrites(state);
    }

    private void JoinWrites(KeyState state)
    {
        if (!state.HasPendingChange || state.Newest.Kind != ChangeKind.Write || state.IsInWrites)
        {
            return;
        }

        _writes.AddLast(state.WriteNode);
        _writeBytes += state.Newest.Record.Length;
        while (_writes.Count > _options.MaxPendingWrites || _writeBytes > _options.MaxPendingBytes)
        {
            _log.Degraded(_writes.Count, _writeBytes);
            _counters.CountDegraded();
            Replace(_writes.First!.Value, new PendingChange(ChangeKind.Remove));
        }
    }

    private void LeaveWrites(KeyState state)
    {
        if (state.IsInWrites)
        {
            _writes.Remove(state.WriteNode);
            _writeBytes -= state.Newest.Record.Length;
        }
    }

    private void RemoveFromUnconfirmed(KeyState state)
    {
        if (state.IsUnconfirmed)
        {
            _unconfirmed.Remove(state.UnconfirmedNode);
        }
    }

    private bool IsOverLimit() => _states.Count > _options.MaxPendingKeys;

    private void Overflow()
    {
        lock (_gate)
        {
            if (!IsOverLimit() || _isOverflowing)
            {
                return;
            }

            _isOverflowing = true;
            _counters.CountOverflow();
            _log.Overflowed(_states.Count);
        }

        // The new era comes first, because it ends the reads of old entries in this process at once. Only then are the changes that it replaces
        // removed; otherwise an old value could be read in between.
        _onOverflow();
        lock (_gate)
        {
            foreach (KeyState state in _states.Values.ToArray())
            {
                // The change of the era stays, so that an older era that is written late cannot return. Running changes end on their own.
                if (state.Newest.Kind != ChangeKind.Era && (state.HasPendingChange || !state.IsRunning))
                {
                    state.IsOverflown = true;
                    Forget(state);
                }
            }

            _isOverflowing = false;
        }
    }

    private void Forget(KeyState state)
    {
        LeaveWrites(state);
        RemoveFromUnconfirmed(state);
        if (state.IsQueued)
        {
            _queue.Remove(state.QueueNode);
        }

        state.HasPendingChange = false;
        state.IsForgotten = true;
        if (_states.TryGetValue(state.Key, out KeyState? present) && present == state)
        {
            _states.Remove(state.Key);
        }

        _stateCount = _states.Count;
        if (!state.WasLate)
        {
            _spare = state;
        }
    }

    private void ForgetIfOld(KeyState state)
    {
        if (state is { IsMade: true, IsRunning: false, LateCalls: > 0 }
            && _clock.NowMs - state.WatchedSince >= (long)_options.RememberLateCalls.TotalMilliseconds)
        {
            Forget(state);
        }
    }

    // Watched keys that are not read any more are removed here, from time to time.
    private void Sweep()
    {
        long now = _clock.NowMs;
        if (_states.Count == 0 || now - _sweptAt < (long)_options.RememberLateCalls.TotalMilliseconds)
        {
            return;
        }

        _sweptAt = now;
        foreach (KeyState state in _states.Values.ToArray())
        {
            ForgetIfOld(state);
        }
    }
}
