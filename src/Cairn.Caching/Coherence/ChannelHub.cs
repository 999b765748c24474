using Cairn.Caching.Levels;

namespace Cairn.Caching.Coherence;

// Brings changes to the first levels in this process that share an IDistributedCache: those they make themselves, directly, and
// those of other machines through the channel, if there is one.
//
//   I1  Whoever changes a key tells all first levels of this process before the change is acknowledged.
//   I2  With a channel, first levels are trusted as Hearing says. The channel tells what was missed before it lets the heart beat again.
internal sealed class ChannelHub : ICacheChangeReceiver, IDisposable
{
    private readonly Lock _gate = new();
    private readonly ICacheInvalidation? _channel;
    private readonly DistributedRecords _records;
    private readonly Hearing _hearing;
    private readonly Func<string, ulong> _hashOf;
    private readonly Action<string?> _onChangedElsewhere;
    private readonly Action _onProven;
    private readonly TaskCompletionSource _heard = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private IDisposable? _subscription;
    private bool _isDisposed;

    // Replaced as a whole, so that it is read without a lock.
    private volatile ChannelCoherence[] _coherences = [];
    private int _hasBeaten;

    /// <summary>Creates one that hears nothing until <see cref="Start"/>.</summary>
    /// <param name="channel">How other machines are heard of; null if they are not.</param>
    /// <param name="records">Which keys are meant.</param>
    /// <param name="isPrivate">True if no other process can change anything.</param>
    /// <param name="hearing">Is told what heartbeats prove.</param>
    /// <param name="hashOf">The hash by which first levels know a key of the second level; 0 if they do not know such a key.</param>
    /// <param name="onChangedElsewhere">Is told of a key that others changed before first levels are; null for all keys.</param>
    /// <param name="onProven">Is told after something was proven.</param>
    public ChannelHub(
        ICacheInvalidation? channel,
        DistributedRecords records,
        bool isPrivate,
        Hearing hearing,
        Func<string, ulong> hashOf,
        Action<string?> onChangedElsewhere,
        Action onProven)
    {
        _channel = channel;
        _records = records;
        SeesAllChanges = isPrivate || channel is not null;
        _hearing = hearing;
        _hashOf = hashOf;
        _onChangedElsewhere = onChangedElsewhere;
        _onProven = onProven;
    }

    /// <summary>Names this process among those that share the channel.</summary>
    public Guid Id { get; } = Guid.NewGuid();

    public bool HasChannel => _channel is not null;

    /// <summary>True if nobody can change what this does not hear of.</summary>
    public bool SeesAllChanges { get; }

    /// <summary>True if no change that was made elsewhere is unknown for longer than allowed (I2).</summary>
    public bool IsTrusted => _hearing.IsTrusted;

    /// <summary>How old what is served may be, as others' changes count, in milliseconds.</summary>
    public long AllowedAgeMs => _hearing.TrustMs;

    /// <summary>True once others' changes have been heard of.</summary>
    public bool HasHeard => _heard.Task.IsCompleted;

    /// <summary>Waits until others' changes are heard of for the first time.</summary>
    public Task WaitUntilHeardAsync(TimeSpan timeout, TimeProvider clock, CancellationToken cancellationToken) =>
        _heard.Task.WaitAsync(timeout, clock, cancellationToken);

    /// <summary>
    /// Subscribes. The channel is code of others and may block: it is waited for no longer than the limit, and goes on in the background
    /// after that. Until it is done, others' changes are not heard of.
    /// </summary>
    /// <param name="limit">Longest wait.</param>
    /// <param name="onLateFault">Is told of an exception that comes after that. An earlier one is the caller's.</param>
    public void Start(TimeSpan limit, Action<Exception> onLateFault)
    {
        if (_channel is not { } channel)
        {
            return;
        }

        Task keeping = SubscribeAsync(channel);
#pragma warning disable VSTHRD002 // Whoever makes a cache needs it at once, and waits for a bounded time.
        if (Task.WaitAny([keeping], limit) == 0)
        {
            keeping.GetAwaiter().GetResult();
        }
#pragma warning restore VSTHRD002
        else
        {
            _ = keeping.ContinueWith(
                (task, _) => onLateFault(task.Exception!.InnerException!), null, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default);
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

    /// <summary>Tells the first levels of this process of a change (I1).</summary>
    /// <param name="hash">The key or tag.</param>
    /// <param name="except">Is not told.</param>
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

    /// <summary>Tells the first levels of this process that everything changed.</summary>
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

        // A default value has no key; whatever it was meant to say, everything covers it.
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
        // What was kept before the subscription was in place may have been changed unheard.
        if (Interlocked.Exchange(ref _hasBeaten, 1) == 0)
        {
            OnMissed();
        }

        _hearing.Prove(age);
        _onProven();
        _heard.TrySetResult();
    }

    public void OnMissed()
    {
        _onChangedElsewhere(null);
        TellAll();
    }

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
