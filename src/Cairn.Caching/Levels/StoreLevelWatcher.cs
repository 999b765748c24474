using Cairn.Engine;
using Cairn.Platform;

namespace Cairn.Caching.Levels;

// Waits for leases of other processes on behalf of all waiters in this process. One thread sleeps on the store's lease signal, so that no
// thread of the pool does.
//
//   W1  The signal of a partition is read before its waiters are tried. A signal that is raised later is noticed: it differs from the value
//       that was read, and ends the sleep on it.
//   W2  A new waiter is seen before the next sleep, or it sees on which partition the watcher sleeps and raises that signal.
//   W3  A process that died raises no signal: every waiter is tried again after LongestSleep.
//   W4  An attempt waits for a partition's lock no longer than LockTimeout, and a partition whose lock is held is tried once in a round. So
//       waits end at about their deadlines, even while a stopped process holds a lock.
//
// The thread cannot sleep on the signals of several partitions at once: it then polls them every millisecond.
internal sealed class StoreLevelWatcher : IDisposable
{
    private const int Awake = -1;

    private static readonly TimeSpan LongestSleep = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan ShortSleep = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan LockTimeout = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan IdleTime = TimeSpan.FromSeconds(5);

    private readonly StoreEngine _engine;
    private readonly CairnCollection _keys;
    private readonly TimeSpan _leaseDuration;
    private readonly object _gate = new();
    private readonly uint[] _seen;
    private readonly List<StoreLevelWaiter> _arrived = [];
    private readonly List<StoreLevelWaiter> _waiting = [];
    private bool _isRunning;
    private bool _isOver;
    private int _asleepOn = Awake;

    public StoreLevelWatcher(CairnCollection keys, TimeSpan leaseDuration)
    {
        _engine = keys.Engine;
        _keys = keys;
        _leaseDuration = leaseDuration;
        _seen = new uint[_engine.Memory.PartitionCount];
    }

    /// <summary>Tries to acquire the lease of a key, without waiting for its owner.</summary>
    /// <exception cref="ObjectDisposedException">The store was closed.</exception>
    public LeaseResult Try(string key, bool replacesStale, TimeSpan lockTimeout)
    {
        LeaseStatus status = _keys.TryAcquireLease(
            key, replacesStale, _leaseDuration, lockTimeout, out StoreLease? lease, out ulong version);
        return status switch
        {
            LeaseStatus.Acquired => new LeaseResult(LevelStatus.Done, new StoreLevelLease(_keys, key, lease, version)),
            LeaseStatus.Hit when replacesStale => new LeaseResult(LevelStatus.Done, new StoreLevelLease(_keys, key, lease: null, version)),
            LeaseStatus.Hit => new LeaseResult(LevelStatus.Hit),
            LeaseStatus.Held => new LeaseResult(LevelStatus.Held),
            _ => new LeaseResult(LevelStatus.Failed),
        };
    }

    /// <summary>Waits until the lease of a key is acquired or no longer needed.</summary>
    public async ValueTask<LeaseResult> WaitAsync(
        string key, bool replacesStale, int partition, TimeSpan wait, CancellationToken cancellationToken)
    {
        long deadline = wait == Timeout.InfiniteTimeSpan
            ? long.MaxValue
            : Stopwatch.GetTimestamp() + (long)(wait.TotalSeconds * Stopwatch.Frequency);
        var waiter = new StoreLevelWaiter(key, replacesStale, partition, deadline);
        using CancellationTokenRegistration registration = cancellationToken.UnsafeRegister(
            static (state, token) => ((StoreLevelWaiter)state!).TrySetCanceled(token), waiter);
        Add(waiter);
        return await waiter.Task.ConfigureAwait(false);
    }

    /// <summary>Ends all waits as failed, and the thread soon after.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isOver = true;
            Monitor.Pulse(_gate);
        }
    }

    private void Add(StoreLevelWaiter waiter)
    {
        lock (_gate)
        {
            if (_isOver)
            {
                waiter.Complete(new LeaseResult(LevelStatus.Failed));
                return;
            }

            if (_isRunning)
            {
                Monitor.Pulse(_gate);
            }
            else if (!(_isRunning = BackgroundThread.TryStart("Cairn leases", Watch)))
            {
                waiter.Complete(new LeaseResult(LevelStatus.Failed)); // Without a thread that waits, the caller computes the value without the lease.
                return;
            }

            _arrived.Add(waiter); // The thread sees it, because it takes the lock first.
        }

        // Full fence between the registration of the waiter and this read (W2). Releasing the lock is none on Arm64.
        Interlocked.MemoryBarrier();
        int asleepOn = Volatile.Read(ref _asleepOn);
        if (asleepOn != Awake)
        {
            _engine.RaiseLeaseSignal(asleepOn);
        }
    }

    private void Watch()
    {
        long lookAt = 0;
        while (TakeArrived())
        {
            long now = Stopwatch.GetTimestamp();
            bool isLookDue = now >= lookAt;
            if (isLookDue)
            {
                lookAt = now + ToTicks(LongestSleep);
            }

            ulong partitions = TryAll(isLookDue, now);
            if (partitions != 0)
            {
                Sleep(partitions, lookAt);
            }
        }
    }

    // Returns false if there has been no waiter for a while, or if the watcher is disposed: the thread then ends.
    private bool TakeArrived()
    {
        lock (_gate)
        {
            while (!_isOver && _waiting.Count == 0 && _arrived.Count == 0)
            {
                if (!Monitor.Wait(_gate, IdleTime) && _arrived.Count == 0)
                {
                    _isRunning = false;
                    return false;
                }
            }

            _waiting.AddRange(_arrived);
            _arrived.Clear();
            if (!_isOver)
            {
                return true;
            }

            _isRunning = false;
        }

        _waiting.ForEach(waiter => waiter.Complete(new LeaseResult(LevelStatus.Failed)));
        _waiting.Clear();
        return false;
    }

    // Tries the waiters for which something may have changed. Returns the partitions of the remaining waiters, as bits.
    private ulong TryAll(bool isLookDue, long now)
    {
        ulong signalled = isLookDue ? ulong.MaxValue : 0;
        for (int partition = 0; partition < _seen.Length; partition++)
        {
            uint signal = _engine.LeaseSignalOf(partition); // W1
            signalled |= signal != _seen[partition] ? 1UL << partition : 0;
            _seen[partition] = signal;
        }

        ulong partitions = 0;
        ulong locked = 0;
        _waiting.RemoveAll(waiter =>
        {
            ulong bit = 1UL << waiter.Partition;
            bool isDue = (waiter.IsNew || (signalled & bit) != 0) && (locked & bit) == 0;
            waiter.IsNew = false;
            if (!waiter.Task.IsCompleted && !TryComplete(waiter, isDue, now, out bool isLocked))
            {
                locked |= isLocked ? bit : 0; // W4
                partitions |= bit;
                return false;
            }

            return true;
        });
        return partitions;
    }

    private bool TryComplete(StoreLevelWaiter waiter, bool isDue, long now, out bool isLocked)
    {
        isLocked = false;
        if (isDue)
        {
            LeaseResult result;
            try
            {
                result = Try(waiter.Key, waiter.ReplacesStale, LockTimeout);
            }
#pragma warning disable CA1031 // Any exception is a failure of the store, which ends this wait and must not end the process.
            catch (Exception)
#pragma warning restore CA1031
            {
                waiter.Complete(new LeaseResult(LevelStatus.Failed));
                return true;
            }

            isLocked = result.Status == LevelStatus.Failed;
            if (!isLocked && result.Status != LevelStatus.Held)
            {
                waiter.Complete(result);
                return true;
            }
        }

        if (now < waiter.Deadline)
        {
            return false;
        }

        waiter.Complete(new LeaseResult(LevelStatus.Held));
        return true;
    }

    private void Sleep(ulong partitions, long until)
    {
        foreach (StoreLevelWaiter waiter in _waiting)
        {
            until = Math.Min(until, waiter.Deadline);
        }

        TimeSpan left = Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), until);
        if (left <= TimeSpan.Zero)
        {
            return;
        }

        int partition = System.Numerics.BitOperations.TrailingZeroCount(partitions);
        bool isOnly = (partitions & (partitions - 1)) == 0;

        // Full fence between the publication of the partition to sleep on and the check for new waiters (W2).
        Interlocked.Exchange(ref _asleepOn, partition);
        bool isAlone;
        lock (_gate)
        {
            isAlone = _arrived.Count == 0 && !_isOver;
        }

        if (isAlone)
        {
            _engine.WaitForLeaseSignal(partition, _seen[partition], isOnly || left < ShortSleep ? left : ShortSleep);
        }

        Volatile.Write(ref _asleepOn, Awake);
    }

    private static long ToTicks(TimeSpan time) => (long)(time.TotalSeconds * Stopwatch.Frequency);
}
