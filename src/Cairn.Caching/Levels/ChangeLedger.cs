using System.Diagnostics.CodeAnalysis;
using Cairn.Caching.Coherence;

namespace Cairn.Caching.Levels;

/// <summary>How an attempt to make a change ended.</summary>
/// <param name="IsDone">True if everything belonging to it is done.</param>
/// <param name="Late">A call that was given up and goes on.</param>
internal readonly record struct AttemptResult(bool IsDone, Task? Late = null);

// What this process knows of keys beyond what the second level has: changes under way, changes that are owed to it, calls that
// were given up and may still take effect, and the leases within this process. Keys without any of these are not in here.
//
//                        asked for                     done, and no late call
//   (not in the ledger) -----------> Running ----------------------------------> (not in the ledger)
//                                     |   ^  \
//       failed, or its caller waits   |   |   \ done, but an older call goes on, or others may have been undone by it (I6)
//       no longer                     v   |    v
//                                     Owed     Watched --> Owed again, when the older call ends: it may have undone the change;
//                                                          or when others are heard to have changed the key
//
//   I1  Of a key at most one change is being made at a time, but for calls that were given up. The newest one asked for is what
//       counts: an older one that was not made yet is never made.
//   I2  While a change is owed, or watched for an older call, readers get it from here, or nothing. What a caller was told of is thus
//       never undone for this process, and the second level gets it in the end.
//   I3  A call that was given up and ends after a newer change was made has perhaps undone it, so the newest is made again. When it
//       ends after the ledger forgot the key, the key is removed.
//   I4  A lease is checked, and all leases of a changed key are ended, under the lock under which the change becomes the newest one.
//       A write with a lease is thus never newer than a change that ended the lease.
//   I5  What is owed is bounded. Beyond the bounds writes become removals, and removals of many keys one new era: both drop more
//       than asked for, and leave nothing old readable.
//   I6  What is made later than it was asked for must not replace what others did since. A value, stamp or era that is owed is tried
//       again only if all that they did until it failed was heard of, and watched until all that they did until it was made was.
//       Otherwise it gives way: a value becomes a removal, a stamp or an era another one. Removals replace nothing.
internal sealed partial class ChangeLedger : IDisposable
{
    private const long FirstDelayMs = 100;
    private const long LongestDelayMs = 5000;

    private readonly Lock _gate = new();
    private readonly Dictionary<string, KeyState> _states = new(StringComparer.Ordinal);
    // One that was never late: nobody refers to it any more.
    private KeyState? _spare;
    private readonly Dictionary<string, LocalLease> _leases = new(StringComparer.Ordinal);

    // Owed and not under way, in the order in which they became so.
    private readonly LinkedList<KeyState> _queue = new();

    // Owed writes, for their bounds.
    private readonly LinkedList<KeyState> _writes = new();

    // Made later than asked for, and watched for what others did (I6), in the order in which they were made.
    private readonly LinkedList<KeyState> _unproven = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly CancellationToken _stopToken;
    private readonly DistributedLevelOptions _options;
    private readonly LevelCounters _counters;
    private readonly LevelLog _log;
    private readonly MonotonicClock _clock;
    private readonly Hearing _hearing;
    private readonly Func<string, PendingChange, ValueTask<AttemptResult>> _attempt;
    private readonly Func<long> _waitMs;
    private readonly Action _tryNow;
    private readonly Action _onOverflow;
    private long _writeBytes;
    private long _sweptAt;
    private bool _isWorking;
    private bool _isClosed;
    private bool _isOverflowing;

    // What the worker waits for between two attempts.
    private TaskCompletionSource? _pause;

    // Read without the lock to skip it; the lock's release made it visible to all who saw what was acknowledged.
    private volatile int _stateCount;

    /// <summary>Creates an empty one.</summary>
    /// <param name="options">Bounds and times.</param>
    /// <param name="counters">What is counted.</param>
    /// <param name="log">What is told.</param>
    /// <param name="hearing">What is known of others.</param>
    /// <param name="attempt">Makes a change. Never throws, and takes no longer than its time-outs.</param>
    /// <param name="waitMs">How long attempts are known to be useless.</param>
    /// <param name="tryNow">Makes the next attempt useful if it can be.</param>
    /// <param name="onOverflow">Begins a new era: changes of too many keys are owed.</param>
    public ChangeLedger(
        DistributedLevelOptions options,
        LevelCounters counters,
        LevelLog log,
        Hearing hearing,
        Func<string, PendingChange, ValueTask<AttemptResult>> attempt,
        Func<long> waitMs,
        Action tryNow,
        Action onOverflow)
    {
        _options = options;
        _counters = counters;
        _log = log;
        _clock = new(options.Clock);
        _hearing = hearing;
        _stopToken = _stop.Token;
        _attempt = attempt;
        _waitMs = waitMs;
        _tryNow = tryNow;
        _onOverflow = onOverflow;
    }

    /// <summary>Keys with changes under way, owed or watched.</summary>
    public int Count => _stateCount;

    /// <summary>Changes that are owed.</summary>
    public int OwedCount
    {
        get
        {
            lock (_gate)
            {
                return _states.Values.Count(state => state.IsOwed);
            }
        }
    }

    /// <summary>Bytes of writes that are owed.</summary>
    public long OwedBytes => Volatile.Read(ref _writeBytes);

    /// <summary>Makes a change the newest of its key, and waits until it was made or the time is over; then it is owed.</summary>
    /// <param name="key">The key.</param>
    /// <param name="change">What is to be done.</param>
    /// <param name="lease">Without which it is not done; null to end all leases of the key.</param>
    /// <param name="wait">The caller's. The change is owed when it ends.</param>
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
                // What is under way or owed is published when it is made.
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
            // Not awaited: it may be held up by an older call while this caller's time runs out. It does not throw.
            _ = RunAsync(state);
        }

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
            return Owe(state, change);
        }
        catch (OperationCanceledException)
        {
            Owe(state, change);
            throw;
        }
    }

    /// <summary>True if readers are to be answered from here.</summary>
    /// <param name="key">The key.</param>
    /// <param name="change">
    /// What counts: a write, a removal, a stamp or an era. Null if nothing is known: others may have done what is newer, unheard, and
    /// what the second level has is older than what this process did.
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
            if (!state.IsOwed && state.LateCalls == 0)
            {
                return false;
            }

            change = state.Newest.CanReplace && !_hearing.IsTrusted ? null : state.Newest;
            return true;
        }
    }

    /// <summary>
    /// Somebody else changed a key, as of now. What this process owes for it is older than that or as old, and must not replace it: the
    /// key is removed instead, and a stamp or era becomes another new one. Ends the key's lease.
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

    /// <summary>As <see cref="OnChangedElsewhere"/>, of all keys.</summary>
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

    /// <summary>More of what others did was heard of: what was watched until then is forgotten (I6).</summary>
    public void OnProven()
    {
        if (_stateCount == 0)
        {
            return;
        }

        lock (_gate)
        {
            while (_unproven.First is { } first && _hearing.IsProven(first.Value.MadeAt))
            {
                _unproven.RemoveFirst();
                if (first.Value.IsSettled)
                {
                    Forget(first.Value);
                }
            }
        }
    }

    /// <summary>Acquires the lease of a key within this process; or tells which one is held.</summary>
    public bool TryAcquire(LocalLease lease, [NotNullWhen(false)] out LocalLease? other)
    {
        lock (_gate)
        {
            other = null;
            if (!_leases.TryAdd(lease.Key, lease))
            {
                other = _leases[lease.Key];
            }

            return other is null;
        }
    }

    public void Release(LocalLease lease)
    {
        lock (_gate)
        {
            if (_leases.TryGetValue(lease.Key, out LocalLease? present) && present == lease)
            {
                _leases.Remove(lease.Key);
            }

            lease.End();
        }
    }

    /// <summary>A new era began: all leases end, and stamps that are owed become others. Values that are owed are of the old era.</summary>
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

    private LevelStatus Owe(KeyState state, PendingChange change)
    {
        lock (_gate)
        {
            if (change.IsCompleted)
            {
                return change.Status;
            }

            // Its maker goes on, or a newer change comes first; either way readers get the newest from here from now on (I2).
            MarkOwed(state);
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
        state = _spare ?? new KeyState();
        _spare = null;
        state.Begin(key, change);
        _states.Add(key, state);
        _stateCount = _states.Count;
        return state;
    }

    private void Replace(KeyState state, PendingChange change)
    {
        PendingChange older = state.Newest;
        if (older != change && !older.IsCompleted)
        {
            change.Replaced = older;
        }

        LeaveWrites(state);
        LeaveUnproven(state);
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
        // A change whose caller still waits is as new as the other; which one counts is the second level's to say.
        if (!state.IsOwed && state.LateCalls == 0 && !state.IsUnproven)
        {
            return;
        }

        PendingChange newest = state.Newest.Kind switch
        {
            ChangeKind.Stamp => new PendingChange(ChangeKind.Stamp) { Number = DistributedRecords.NewNumber() },
            ChangeKind.Era => new PendingChange(ChangeKind.Era) { Number = DistributedRecords.NewNumber() },
            _ => new PendingChange(ChangeKind.Remove),
        };
        newest.OnLate(_clock.NowMs);
        Replace(state, newest);
        MarkOwed(state);
        Enqueue(state);
    }

    private void EndLeaseLocked(string key)
    {
        if (_leases.Remove(key, out LocalLease? lease))
        {
            lease.End();
        }
    }

    private void EndAllLeasesLocked()
    {
        foreach (LocalLease lease in _leases.Values)
        {
            lease.End();
        }

        _leases.Clear();
    }
}
