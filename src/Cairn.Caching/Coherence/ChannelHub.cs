using Cairn.Caching.Levels;

namespace Cairn.Caching.Coherence;

// Brings changes to the first levels in this process that share an IDistributedCache: those they make themselves, directly, and
// those of other machines through the channel, if there is one.
//
//   I1  Whoever changes a key tells all first levels of this process before the change is acknowledged.
//   I2  With a channel, first levels are trusted until TrustAfterHeartbeat has passed since what the last heartbeat proved. They
//       begin untrusted. The channel tells what was missed before it lets the heart beat again.
internal sealed class ChannelHub : ICacheChangeReceiver, IDisposable
{
    private readonly Lock _gate = new();
    private readonly ICacheInvalidation? _channel;
    private readonly DistributedRecords _records;
    private readonly MonotonicClock _clock;
    private readonly long _trustMs;
    private readonly Func<string, ulong> _hashOf;
    private readonly Action<string?> _onChangedElsewhere;
    private IDisposable? _subscription;

    // Replaced as a whole, so that it is read without a lock.
    private volatile ChannelCoherence[] _coherences = [];
    private long _trustedUntilMs;
    private int _hasBeaten;

    /// <summary>Creates one that hears nothing until <see cref="Start"/>.</summary>
    /// <param name="channel">How other machines are heard of; null if they are not.</param>
    /// <param name="records">Which keys are meant.</param>
    /// <param name="isPrivate">True if no other process can change anything.</param>
    /// <param name="options">Times.</param>
    /// <param name="hashOf">The hash by which first levels know a key of the second level; 0 if they do not know such a key.</param>
    /// <param name="onChangedElsewhere">Is told of a key that others changed before first levels are; null for all keys.</param>
    public ChannelHub(
        ICacheInvalidation? channel,
        DistributedRecords records,
        bool isPrivate,
        DistributedLevelOptions options,
        Func<string, ulong> hashOf,
        Action<string?> onChangedElsewhere)
    {
        _channel = channel;
        _records = records;
        SeesAllChanges = isPrivate || channel is not null;
        _clock = new(options.Clock);
        _trustMs = (long)options.TrustAfterHeartbeat.TotalMilliseconds;
        _hashOf = hashOf;
        _onChangedElsewhere = onChangedElsewhere;
        _trustedUntilMs = channel is null ? long.MaxValue : long.MinValue;
    }

    /// <summary>Names this process among those that share the channel.</summary>
    public Guid Id { get; } = Guid.NewGuid();

    public bool HasChannel => _channel is not null;

    /// <summary>True if nobody can change what this does not hear of.</summary>
    public bool SeesAllChanges { get; }

    /// <summary>True if no change that was made elsewhere is unknown for longer than allowed (I2).</summary>
    public bool IsTrusted
    {
        get
        {
            // A stale read trusts or distrusts by one heartbeat too long; a heartbeat is news of the past anyway.
            long until = Volatile.Read(ref _trustedUntilMs);
            return until == long.MaxValue || _clock.NowMs < until;
        }
    }

    public void Start() => _subscription = _channel?.Subscribe(_records.KeyPrefix, this);

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

        long until = _clock.NowMs - Math.Max(0, (long)age.TotalMilliseconds) + _trustMs;
        lock (_gate)
        {
            Volatile.Write(ref _trustedUntilMs, Math.Max(_trustedUntilMs, until));
        }
    }

    public void OnMissed()
    {
        _onChangedElsewhere(null);
        TellAll();
    }

    public void Dispose() => _subscription?.Dispose();

    private bool IsAll(in CacheChange change) => change.IsPrefix
        ? change.Key.StartsWith(_records.KeyPrefix, StringComparison.Ordinal) || _records.KeyPrefix.StartsWith(change.Key, StringComparison.Ordinal)
        : string.Equals(change.Key, _records.EraKey, StringComparison.Ordinal);
}
