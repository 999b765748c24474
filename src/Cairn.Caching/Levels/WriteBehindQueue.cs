using Cairn.Caching.Coherence;
using Cairn.Caching.Records;
using Cairn.Caching.Timing;

namespace Cairn.Caching.Levels;

/// <summary>The outcome of one attempt to make a change.</summary>
/// <param name="IsDone">True if all parts of the change are done.</param>
/// <param name="Late">A call that was abandoned and is still running.</param>
internal readonly record struct AttemptResult(bool IsDone, Task? Late = null);

// The write-behind queue: what this process knows of keys beyond the contents of the second level. It has changes under way, pending changes,
// abandoned calls that may still take effect, and the leases within this process. Keys without any of these are not in it.
//
//                       requested                      done, and no late call
//   (not in the queue) -----------> Running ----------------------------------> (not in the queue)
//                                     |   ^  \
//          failed, or its caller      |   |   \ done, but an older call is still running, or the change may have
//          waits no longer            v   |    v undone a change of another machine (I6)
//                                   Pending     Watched --> Pending again, when the older call ends, because it may have undone the
//                                                           change, or when another machine reports a change of the key
//
//   I1  At most one change of a key is being made at a time, not counting abandoned calls. The newest requested change is the one that
//       counts: an older one that was not made yet is never made.
//   I2  While a change is pending, or watched because of an older call, readers get it from here, or get no value. So a change that was
//       reported to a caller is never undone for this process, and the second level gets it in the end.
//   I3  An abandoned call that ends after a newer change was made may have undone that change, so the newest change is made again. If the
//       call ends after the queue forgot the key, the key is removed.
//   I4  The lock under which a change becomes the newest also covers the check of its lease and the end of all leases of the changed key.
//       So a write with a lease is never newer than a change that ended the lease. Until a lease ends, only its holder changes its key: the
//       holder's write is listed only when the lease ends first, or when the write does not end at once.
//   I5  The queue is limited. Beyond the limits, writes become removals, and removals of many keys become one new era. Both remove more
//       than was requested, and leave no old value readable.
//   I6  A change that is made later than it was requested must not replace newer changes of other machines. A pending value, stamp or era is
//       tried again only if the channel has delivered all their changes up to its failure. Once made, it is unconfirmed: it is watched until
//       the channel has delivered all their changes up to that moment. Otherwise it is replaced by a removal, which replaces nothing. The
//       next reader of a removed stamp or era creates another one.
internal sealed partial class WriteBehindQueue : IDisposable
{
    private const long FirstDelayMs = 100;
    private const long LongestDelayMs = 5000;

    private readonly Lock _gate = new();
    private readonly Dictionary<string, KeyState> _states = new(StringComparer.Ordinal);
    // Unreferenced objects for reuse: a state that was never late, and a write that was never listed.
    private KeyState? _spare;
    private PendingChange? _spareWrite;

    // By hash: if two keys ever have the same one, each only ends or delays the lease of the other.
    private readonly Dictionary<ulong, LocalLease> _leases = [];

    // Pending changes that are not under way, in the order in which they became pending.
    private readonly LinkedList<KeyState> _queue = new();

    // Pending writes, which count towards the limits.
    private readonly LinkedList<KeyState> _writes = new();

    // Unconfirmed changes: made later than requested, and watched for changes of other machines (I6), in the order in which they were made.
    private readonly LinkedList<KeyState> _unconfirmed = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly CancellationToken _stopToken;
    private readonly DistributedLevelOptions _options;
    private readonly LevelCounters _counters;
    private readonly LevelLog _log;
    private readonly MonotonicClock _clock;
    private readonly ChannelLiveness _liveness;
    private readonly Func<string, PendingChange, ValueTask<AttemptResult>> _attempt;
    private readonly Func<long> _waitMs;
    private readonly Action _tryNow;
    private readonly Action _onOverflow;
    private readonly Func<string, ulong> _hashOf;
    private long _writeBytes;
    private long _sweptAt;
    private bool _isWorking;
    private volatile bool _isClosed;
    private bool _isOverflowing;

    // Completed to end the worker's pause between two attempts.
    private TaskCompletionSource? _pause;

    // Read without the lock in order to skip it. The release of the lock made it visible to every caller that saw the acknowledgement.
    private volatile int _stateCount;

    /// <summary>Creates an empty queue.</summary>
    /// <param name="options">The limits and times.</param>
    /// <param name="counters">The counters to increment.</param>
    /// <param name="log">The log.</param>
    /// <param name="liveness">The channel liveness.</param>
    /// <param name="attempt">The function that makes a change. It never throws, and takes no longer than its time-outs.</param>
    /// <param name="waitMs">The function that returns for how many milliseconds attempts are known to be useless.</param>
    /// <param name="tryNow">The action that lets the next attempt pass the circuit breakers.</param>
    /// <param name="onOverflow">The action that begins a new era, because changes of too many keys are pending.</param>
    /// <param name="hashOf">The function that maps a key to its hash.</param>
    public WriteBehindQueue(
        DistributedLevelOptions options,
        LevelCounters counters,
        LevelLog log,
        ChannelLiveness liveness,
        Func<string, PendingChange, ValueTask<AttemptResult>> attempt,
        Func<long> waitMs,
        Action tryNow,
        Action onOverflow,
        Func<string, ulong> hashOf)
    {
        _options = options;
        _counters = counters;
        _log = log;
        _clock = new(options.Clock);
        _liveness = liveness;
        _stopToken = _stop.Token;
        _attempt = attempt;
        _waitMs = waitMs;
        _tryNow = tryNow;
        _onOverflow = onOverflow;
        _hashOf = hashOf;
    }

    /// <summary>The number of pending changes.</summary>
    public int PendingCount
    {
        get
        {
            lock (_gate)
            {
                return _states.Values.Count(state => state.HasPendingChange);
            }
        }
    }

    /// <summary>Makes a change the newest of its key, and waits until it is made or the time is over; then it is pending.</summary>
    /// <param name="key">The key.</param>
    /// <param name="change">The change.</param>
    /// <param name="lease">The lease that the change requires; null to end all leases of the key.</param>
    /// <param name="wait">The caller's deadline and token. The change is pending when they end the wait.</param>
    /// <returns>Done, Failed, or LeaseLost.</returns>
    public async ValueTask<LevelStatus> ApplyAsync(
        string key, PendingChange change, LocalLease? lease, LevelWait wait)
    {
        KeyState state;
        bool mustRun;
        bool overflowed;
        lock (_gate)
        {
            if (_isClosed)
            {
                return LevelStatus.Failed;
            }

            if (lease is { IsHeld: false })
            {
                return LevelStatus.LeaseLost;
            }

            if (lease is null)
            {
                EndLeaseLocked(key);
            }

            if (change.Kind == ChangeKind.Publish && _states.TryGetValue(key, out KeyState? present) && present.IsPending)
            {
                // The change that is under way or pending is published when it is made.
                return LevelStatus.Failed;
            }

            state = GetOrAdd(key, change);
            Replace(state, change);
            mustRun = !state.IsRunning;
            BeginRun(state);
            overflowed = IsOverLimit();
        }

        if (overflowed)
        {
            Overflow();
        }

        if (mustRun)
        {
            // Not awaited: an older call may delay it beyond this caller's time. It does not throw.
            _ = RunAsync(state);
        }

        return await OutcomeAsync(state, change, wait).ConfigureAwait(false);
    }

    /// <summary>Writes with a lease, like <see cref="ApplyAsync"/>. A write that ends at once, as in memory, is never listed (I4).</summary>
    /// <param name="record">The record.</param>
    /// <param name="expiration">The expiration of the record.</param>
    /// <param name="lease">The lease that the write requires, within this process. Its holder makes one change at a time.</param>
    /// <param name="wait">The caller's deadline and token. The write is pending when they end the wait.</param>
    /// <returns>Done, Failed, or LeaseLost.</returns>
    public ValueTask<LevelStatus> WriteAsync(byte[] record, LevelExpiration expiration, LocalLease lease, in LevelWait wait)
    {
        PendingChange change = lease.SpareWrite ?? new(ChangeKind.Write);
        (change.Record, change.Expiration) = (record, expiration);
        if (_stateCount != 0 || _isClosed || !TryBegin(lease, change, out KeyState? state))
        {
            lease.SpareWrite = null;
            return ApplyAsync(lease.Key, change, lease, wait);
        }

        ValueTask<AttemptResult> attempt = _attempt(lease.Key, change);
        if (!attempt.IsCompletedSuccessfully)
        {
            List(lease);
            _ = RunAsync(state, change, attempt); // Not awaited, as in ApplyAsync.
            return OutcomeAsync(state, change, wait);
        }

        AttemptResult result = attempt.Result;
        if (result.IsDone && lease.TakeWrite() is not null)
        {
            state.IsRunning = false;
            change.Record = [];
            (lease.SpareState, lease.SpareWrite) = (state, change);
            return new(LevelStatus.Done);
        }

        List(lease);
        _ = RunAsync(state, change, new(result));
        return OutcomeAsync(state, change, wait);
    }

    // Waits for the end of a change as long as the caller allows; then the change is pending.
    private async ValueTask<LevelStatus> OutcomeAsync(KeyState state, PendingChange change, LevelWait wait)
    {
        if (change.IsCompleted)
        {
            return change.Status;
        }

        try
        {
            TimeSpan left = wait.Deadline?.Left(_options.WriteTimeout) ?? _options.WriteTimeout;
            await change.WaitAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, _options.Clock, wait.Token).ConfigureAwait(false);
            return change.Status;
        }
        catch (TimeoutException)
        {
            return AddPending(state, change);
        }
        catch (OperationCanceledException)
        {
            AddPending(state, change);
            throw;
        }
    }

    /// <summary>Returns whether readers must use the change here instead of the second level's value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="change">
    /// The change that counts: a write, a removal, a stamp or an era. Null if the value is not known: other machines may have made newer
    /// changes that were not delivered, and the second level has an older value than this process's change.
    /// </param>
    public bool TryRead(string key, out PendingChange? change)
    {
        change = null;
        if (_stateCount == 0)
        {
            return false;
        }

        lock (_gate)
        {
            if (!_states.TryGetValue(key, out KeyState? state) || state.Newest.Kind == ChangeKind.Publish)
            {
                return false;
            }

            ForgetIfOld(state);
            if (!state.HasPendingChange && state.LateCalls == 0)
            {
                return false;
            }

            change = state.Newest.CanReplace && !_liveness.IsTrusted ? null : state.Newest;
            return true;
        }
    }

    /// <summary>
    /// Handles a change of a key by another machine. A pending change of this process is at most as new, and must not replace it: the key is
    /// removed instead. Ends the key's lease.
    /// </summary>
    public void OnChangedElsewhere(string key)
    {
        lock (_gate)
        {
            EndLeaseLocked(key);
            if (_states.TryGetValue(key, out KeyState? state))
            {
                GiveWay(state);
            }
        }

        StartWork();
    }

    /// <summary>Handles changes of all keys, like <see cref="OnChangedElsewhere"/>.</summary>
    public void OnAllChangedElsewhere()
    {
        lock (_gate)
        {
            EndAllLeasesLocked();
            foreach (KeyState state in _states.Values)
            {
                GiveWay(state);
            }
        }

        StartWork();
    }

    /// <summary>Handles a heartbeat of the channel: unconfirmed changes that it covers are no longer watched (I6).</summary>
    public void OnProven()
    {
        if (_stateCount == 0)
        {
            return;
        }

        lock (_gate)
        {
            while (_unconfirmed.First is { } first && _liveness.IsProven(first.Value.MadeAt))
            {
                _unconfirmed.RemoveFirst();
                if (first.Value.IsSettled)
                {
                    Forget(first.Value);
                }
            }
        }
    }

    /// <summary>Acquires the lease of a key within this process, or returns the lease that is held.</summary>
    public bool TryAcquire(LocalLease lease, [NotNullWhen(false)] out LocalLease? other)
    {
        lock (_gate)
        {
            other = null;
            if (!_leases.TryAdd(lease.Hash, lease))
            {
                other = _leases[lease.Hash];
                return false;
            }

            (lease.SpareState, _spare) = (_spare, null);
            (lease.SpareWrite, _spareWrite) = (_spareWrite, null);
            return true;
        }
    }

    /// <summary>Releases a lease that was acquired.</summary>
    public void Release(LocalLease lease)
    {
        lock (_gate)
        {
            (_spare, lease.SpareState) = (lease.SpareState ?? _spare, null);
            (_spareWrite, lease.SpareWrite) = (lease.SpareWrite ?? _spareWrite, null);

            // A lease that has ended is no longer in the table, but another caller's lease of the key may be.
            if (lease.IsHeld)
            {
                EndLeaseLocked(lease.Hash);
            }
        }
    }

    /// <summary>Begins a new era: all leases end, and pending stamps become removals. Pending values belong to the old era.</summary>
    public void OnNewEra()
    {
        lock (_gate)
        {
            EndAllLeasesLocked();
            foreach (KeyState state in _states.Values)
            {
                if (state.Newest.Kind == ChangeKind.Stamp)
                {
                    GiveWay(state);
                }
            }
        }

        StartWork();
    }

    public void Dispose() => _stop.Dispose();

    private LevelStatus AddPending(KeyState state, PendingChange change)
    {
        lock (_gate)
        {
            if (change.IsCompleted)
            {
                return change.Status;
            }

            // The change continues to be made, or a newer one comes first. Either way, readers get the newest change from here from now on
            // (I2).
            MarkPending(state);
            return LevelStatus.Failed;
        }
    }

    private KeyState GetOrAdd(string key, PendingChange change)
    {
        if (_states.TryGetValue(key, out KeyState? state))
        {
            return state;
        }

        Sweep();
        state = NewState(key, change);
        Add(state);
        return state;
    }

    private KeyState NewState(string key, PendingChange change)
    {
        KeyState state = _spare ?? new KeyState();
        _spare = null;
        state.Begin(key, change);
        return state;
    }

    private void Add(KeyState state)
    {
        _states.Add(state.Key, state);
        _stateCount = _states.Count;
    }

    private void List(LocalLease lease)
    {
        bool overflowed;
        lock (_gate)
        {
            ListLocked(lease);
            overflowed = IsOverLimit();
        }

        if (overflowed)
        {
            Overflow();
        }
    }

    private void ListLocked(LocalLease lease)
    {
        if (lease.TakeWrite() is { } state)
        {
            Add(state);
        }
    }

    // Begins a write that is not listed. Returns false if the lease has ended.
    private static bool TryBegin(LocalLease lease, PendingChange change, [NotNullWhen(true)] out KeyState? state)
    {
        state = lease.SpareState ?? new KeyState();
        (lease.SpareState, lease.SpareWrite) = (null, null);
        state.Begin(lease.Key, change);
        state.IsRunning = true;
        lease.BeginWrite(state);
        return lease.IsHeld || lease.TakeWrite() is null; // Null: it was listed, and must be made.
    }

    private void Replace(KeyState state, PendingChange change)
    {
        PendingChange older = state.Newest;
        if (older != change && !older.IsCompleted)
        {
            change.Replaced = older;
        }

        LeaveWrites(state);
        RemoveFromUnconfirmed(state);
        state.Newest = change;
        state.IsMade = false;
        JoinWrites(state);
    }

    private void BeginRun(KeyState state)
    {
        state.IsRunning = true;
        if (state.IsQueued)
        {
            _queue.Remove(state.QueueNode);
        }
    }

    private void Enqueue(KeyState state)
    {
        if (!state.IsRunning && !state.IsQueued)
        {
            _queue.AddLast(state.QueueNode);
        }
    }

    private void GiveWay(KeyState state)
    {
        // A change whose caller still waits is as new as the other machine's. The second level decides which one counts. A removal stays as it is:
        // another one would be reported to the other machine, which may wait with a removal, too, and would answer with another one.
        if (state.Newest.Kind == ChangeKind.Remove || (!state.HasPendingChange && state.LateCalls == 0 && !state.IsUnconfirmed))
        {
            return;
        }

        // Another stamp or era in its place would be late, too: two machines would replace each other's without end.
        var newest = new PendingChange(ChangeKind.Remove);
        newest.OnLate(_clock.NowMs);
        Replace(state, newest);
        MarkPending(state);
        Enqueue(state);
    }

    private void EndLeaseLocked(string key)
    {
        if (_leases.Count > 0)
        {
            EndLeaseLocked(_hashOf(key));
        }
    }

    private void EndLeaseLocked(ulong hash)
    {
        if (_leases.Remove(hash, out LocalLease? lease))
        {
            lease.End();
            ListLocked(lease);
        }
    }

    private void EndAllLeasesLocked()
    {
        foreach (LocalLease lease in _leases.Values)
        {
            lease.End();
            ListLocked(lease);
        }

        _leases.Clear();
    }
}
