using Cairn.Caching.Records;

namespace Cairn.Caching.Coherence;

// Delivers changes to the first levels in this process that share an IDistributedCache: their own changes directly, and those of other
// machines through the channel, if there is one.
//
//   I1  A change of a key is reported to all first levels of this process before it is acknowledged.
//   I2  With a channel, first levels are trusted while the channel is live (ChannelLiveness). After an interruption, the channel delivers the
//       missed changes before its next heartbeat.
internal sealed class ChannelHub : ICacheChangeReceiver, IDisposable
{
    private readonly Lock _gate = new();
    private readonly ICacheInvalidation? _channel;
    private readonly DistributedRecords _records;
    private readonly ChannelLiveness _liveness;
    private readonly Func<string, ulong> _hashOf;
    private readonly Action<string?> _onChangedElsewhere;
    private readonly Action _onProven;
    private readonly TaskCompletionSource _answered = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private IDisposable? _subscription;
    private bool _isDisposed;

    // Replaced as a whole, so that it can be read without a lock.
    private volatile ChannelCoherence[] _coherences = [];
    private int _hasBeaten;

    /// <summary>Creates a hub that receives no changes until <see cref="Start"/>.</summary>
    /// <param name="channel">The channel that delivers changes of other machines; null for none.</param>
    /// <param name="records">The names of the keys in the second level.</param>
    /// <param name="isPrivate">True if no other process can change the second level.</param>
    /// <param name="liveness">The channel liveness, which heartbeats update.</param>
    /// <param name="hashOf">The function that maps a key of the second level to its hash in first levels; 0 if it has none.</param>
    /// <param name="onChangedElsewhere">
    /// The action for a key that another machine changed, called before first levels are notified; a null key means all keys.
    /// </param>
    /// <param name="onProven">The action that follows each heartbeat.</param>
    public ChannelHub(
        ICacheInvalidation? channel,
        DistributedRecords records,
        bool isPrivate,
        ChannelLiveness liveness,
        Func<string, ulong> hashOf,
        Action<string?> onChangedElsewhere,
        Action onProven)
    {
        _channel = channel;
        _records = records;
        SeesAllChanges = isPrivate || channel is not null;
        _liveness = liveness;
        _hashOf = hashOf;
        _onChangedElsewhere = onChangedElsewhere;
        _onProven = onProven;
    }

    /// <summary>The identifier of this process among those that share the channel.</summary>
    public Guid Id { get; } = Guid.NewGuid();

    public bool HasChannel => _channel is not null;

    /// <summary>True if every change of the second level is reported to this hub.</summary>
    public bool SeesAllChanges { get; }

    /// <summary>True if no change by another machine is unknown for longer than allowed (I2).</summary>
    public bool IsTrusted => _liveness.IsTrusted;

    /// <summary>The maximum age of served entries in milliseconds, with regard to changes by other machines.</summary>
    public long AllowedAgeMs => _liveness.TrustMs;

    /// <summary>True once the channel has delivered changes for the first time, or has reported that it cannot.</summary>
    public bool HasAnswered => _answered.Task.IsCompleted;

    /// <summary>Waits until the channel delivers changes for the first time, or reports that it cannot.</summary>
    public Task WaitUntilAnsweredAsync(TimeSpan timeout, TimeProvider clock, CancellationToken cancellationToken) =>
        _answered.Task.WaitAsync(timeout, clock, cancellationToken);

    /// <summary>
    /// Subscribes to the channel. The channel is external code and may block: the call waits no longer than the limit, and the subscription
    /// continues in the background. Until it is complete, changes of other machines are not delivered.
    /// </summary>
    /// <param name="limit">The longest wait.</param>
    /// <param name="onLateFault">The action for an exception after the limit. An earlier exception is thrown to the caller.</param>
    public void Start(TimeSpan limit, Action<Exception> onLateFault)
    {
        if (_channel is not { } channel)
        {
            return;
        }

        Task keeping = SubscribeAsync(channel);
#pragma warning disable VSTHRD002 // The caller creates a cache and needs it at once; the wait is limited.
        if (Task.WaitAny([keeping], limit) == 0)
        {
            keeping.GetAwaiter().GetResult();
        }
#pragma warning restore VSTHRD002
        else
        {
            _ = keeping.ContinueWith(
                (task, _) =>
                {
                    OnRefused();
                    onLateFault(task.Exception!.InnerException!);
                },
                null,
                CancellationToken.None,
                TaskContinuationOptions.OnlyOnFaulted,
                TaskScheduler.Default);
        }
    }

    public void Attach(ChannelCoherence coherence)
    {
        lock (_gate)
        {
            _coherences = [.. _coherences, coherence];
        }
    }

    public void Detach(ChannelCoherence coherence)
    {
        lock (_gate)
        {
            _coherences = [.. _coherences.Where(other => other != coherence)];
        }
    }

    /// <summary>Reports a change to the first levels of this process (I1).</summary>
    /// <param name="hash">The hash of the key or tag.</param>
    /// <param name="except">The first level that is not notified; null for none.</param>
    public void Tell(ulong hash, ChannelCoherence? except = null)
    {
        foreach (ChannelCoherence coherence in _coherences)
        {
            if (coherence != except)
            {
                coherence.OnChanged(hash);
            }
        }
    }

    /// <summary>Reports a change of everything to the first levels of this process.</summary>
    public void TellAll()
    {
        foreach (ChannelCoherence coherence in _coherences)
        {
            coherence.OnAllChanged();
        }
    }

    public void OnChanged(in CacheChange change)
    {
        if (change.Sender == Id)
        {
            return;
        }

        // A default value has no key. Its meaning is unknown, so it counts as a change of everything.
        if (change.Key is null || IsAll(change))
        {
            OnMissed();
            return;
        }

        if (change.IsPrefix || !change.Key.StartsWith(_records.KeyPrefix, StringComparison.Ordinal))
        {
            return;
        }

        _onChangedElsewhere(change.Key);
        if (_hashOf(change.Key) is var hash and not 0)
        {
            Tell(hash);
        }
    }

    public void OnHeartbeat(TimeSpan age)
    {
        // Entries that were kept before the subscription was in place may have changed without notice.
        if (Interlocked.Exchange(ref _hasBeaten, 1) == 0)
        {
            OnMissed();
        }

        _liveness.Prove(age);
        _onProven();
        _answered.TrySetResult();
    }

    public void OnMissed()
    {
        _onChangedElsewhere(null);
        TellAll();
    }

    public void OnRefused() => _answered.TrySetResult();

    public void Dispose()
    {
        IDisposable? subscription;
        lock (_gate)
        {
            _isDisposed = true;
            subscription = _subscription;
            _subscription = null;
        }

        subscription?.Dispose();
    }

    private async Task SubscribeAsync(ICacheInvalidation channel)
    {
        IDisposable subscription = await Task.Factory.StartNew(
            () => channel.Subscribe(_records.KeyPrefix, this),
            CancellationToken.None,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default).ConfigureAwait(false);
        lock (_gate)
        {
            if (!_isDisposed)
            {
                _subscription = subscription;
                return;
            }
        }

        subscription.Dispose();
    }

    private bool IsAll(in CacheChange change) => change.IsPrefix
        ? change.Key.StartsWith(_records.KeyPrefix, StringComparison.Ordinal) || _records.KeyPrefix.StartsWith(change.Key, StringComparison.Ordinal)
        : string.Equals(change.Key, _records.EraKey, StringComparison.Ordinal);
}
