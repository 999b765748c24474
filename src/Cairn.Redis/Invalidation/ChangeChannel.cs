// Reports the changes of other processes to receivers, and confirms that it still receives them. One loop maintains the source of changes:
// it connects, sets up tracking or subscriptions, and asks for a sign of life, more than twice a second.
//
//   I1  A heartbeat is reported after every server has answered. Its age counts from before the first request.
//   I2  After any reconnection or change of the set of servers, OnMissed is called before the next heartbeat, and after tracking or
//       the subscription is set up again.
//   I3  Receivers are called one at a time (_tell), and never after their subscription has ended.
//   I4  Changes made through this cache itself are not reported. The server leaves out the changes of the tracked connection (NOLOOP),
//       and messages name their sender.
using Cairn.Caching;
using Cairn.Redis.Refusals;

namespace Cairn.Redis.Invalidation;

internal sealed class ChangeChannel : IAsyncDisposable
{
    // Receivers expect a heartbeat at least twice a second. The interval is shorter, so that one late iteration does not miss that.
    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(300);

    private readonly IChangeSource _source;
    private readonly string _instanceName;
    private readonly Guid _self;
    private readonly RefusalLog? _refusals;
    private readonly Lock _gate = new();
    private readonly Lock _tell = new();
    private readonly SemaphoreSlim _wake = new(0, 1);
    private readonly CancellationTokenSource _end = new();
    private readonly KeyWaiters _waiters = new();
    private Subscription[] _subscriptions = [];
    private string[] _prefixes = [];
    private int _prefixVersion;
    private Task? _loop;
    private volatile bool _isReceiving;
    private bool _isDisposed;

    /// <summary>Creates a channel. It does nothing before the first subscription.</summary>
    /// <param name="source">The source of the changes. The channel disposes of it.</param>
    /// <param name="instanceName">The prefix of all keys on the server; receivers get keys without it.</param>
    /// <param name="self">The sender whose messages are ignored; empty to report all messages.</param>
    /// <param name="refusals">The log of refusals; null for none.</param>
    public ChangeChannel(IChangeSource source, string instanceName, Guid self, RefusalLog? refusals = null)
    {
        _source = source;
        _instanceName = instanceName;
        _self = self;
        _refusals = refusals;
    }

    /// <summary>Gets the type that an <see cref="ObjectDisposedException"/> of the channel names.</summary>
    public Type Owner { get; init; } = typeof(ChangeChannel);

    /// <summary>Gets whether the channel currently receives changes.</summary>
    public bool IsReceiving => _isReceiving;

    /// <summary>Gets whether there is a subscription.</summary>
    public bool IsInUse => Volatile.Read(ref _subscriptions).Length > 0;

    public IDisposable Subscribe(string keyPrefix, ICacheChangeReceiver receiver)
    {
        ArgumentNullException.ThrowIfNull(keyPrefix);
        ArgumentNullException.ThrowIfNull(receiver);
        var subscription = new Subscription(this, keyPrefix, receiver);
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isDisposed, Owner);
            _subscriptions = [.. _subscriptions, subscription];
            UpdatePrefixes();
            if (_loop is null)
            {
                _source.Start(this);
                _loop = Task.Run(RunAsync);
            }
        }

        Wake();
        return subscription;
    }

    /// <summary>Waits until another process reports a change of the key.</summary>
    /// <returns>False, immediately, if the channel does not currently receive changes.</returns>
    public async ValueTask<bool> WaitForChangeAsync(string key, CancellationToken cancellationToken)
    {
        if (!_isReceiving)
        {
            return false;
        }

        await _waiters.WaitAsync(key, cancellationToken).ConfigureAwait(false);
        return true;
    }

    /// <summary>Lets the loop begin its next iteration now. The source calls this after a reconnection.</summary>
    public void Wake()
    {
        try
        {
            _wake.Release();
        }
        catch (SemaphoreFullException)
        {
            // The loop has been woken already.
        }
        catch (ObjectDisposedException)
        {
            // The loop has ended.
        }
    }

    /// <summary>Reports a change of a key of the server.</summary>
    public void OnChanged(ReadOnlySpan<byte> serverKey)
    {
        string key = Encoding.UTF8.GetString(serverKey);
        if (key.StartsWith(_instanceName, StringComparison.Ordinal))
        {
            Tell(key[_instanceName.Length..], Guid.Empty);
        }
    }

    /// <summary>Reports a published change: the sender, 16 bytes, and the key without the instance name.</summary>
    public void OnMessage(ReadOnlySpan<byte> message)
    {
        if (message.Length < 16)
        {
            return;
        }

        var sender = new Guid(message[..16]);
        if (sender != _self || _self == Guid.Empty)
        {
            Tell(Encoding.UTF8.GetString(message[16..]), sender);
        }
    }

    /// <summary>Reports that any key may have changed.</summary>
    public void OnAllChanged()
    {
        lock (_tell)
        {
            foreach (Subscription subscription in Volatile.Read(ref _subscriptions))
            {
                subscription.Receiver.OnMissed();
            }
        }

        _waiters.WakeAll();
    }

    public async ValueTask DisposeAsync()
    {
        Task? loop;
        lock (_gate)
        {
            if (_isDisposed)
            {
                return;
            }

            _isDisposed = true;
            loop = _loop;
        }

        await _end.CancelAsync().ConfigureAwait(false);

        if (loop is not null)
        {
            _source.Stop();
            await loop.ConfigureAwait(false);
        }

        await _source.DisposeAsync().ConfigureAwait(false);
        _wake.Dispose();
        _end.Dispose();
    }

    private void Unsubscribe(Subscription subscription)
    {
        lock (_gate)
        {
            _subscriptions = [.. _subscriptions.Where(other => other != subscription)];
            UpdatePrefixes();
        }

        // Waits for a running call of a receiver: it holds this lock (I3).
        lock (_tell)
        {
        }
    }

    // Keeps the prefixes that do not begin with another prefix: the server refuses prefixes that overlap.
    private void UpdatePrefixes()
    {
        string[] all = [.. _subscriptions.Select(subscription => _instanceName + subscription.KeyPrefix).Distinct(StringComparer.Ordinal)];
        string[] prefixes =
        [
            .. all.Where(prefix => !all.Any(other => other.Length < prefix.Length && prefix.StartsWith(other, StringComparison.Ordinal)))
                .Order(StringComparer.Ordinal),
        ];
        if (prefixes.Length > 0 && !prefixes.SequenceEqual(_prefixes, StringComparer.Ordinal))
        {
            _prefixes = prefixes;
            _prefixVersion++;
        }
    }

    private async Task RunAsync()
    {
        bool hasMissed = true;
        while (!_end.IsCancellationRequested)
        {
            long startedAt = TimeProvider.System.GetTimestamp();
            try
            {
                (string[] prefixes, int prefixVersion) = Prefixes();
                SourceState state = await _source.TendAsync(prefixes, prefixVersion, _end.Token).ConfigureAwait(false);
                hasMissed |= state != SourceState.Live;
                if (prefixes.Length > 0 && state != SourceState.Changing)
                {
                    TellAlive(hasMissed, TimeProvider.System.GetElapsedTime(startedAt));
                    hasMissed = false;
                    _isReceiving = true;
                }
            }
            catch (Exception failure) when (failure is RedisException or TimeoutException or OperationCanceledException or ObjectDisposedException)
            {
                // Without heartbeats, receivers soon stop trusting their entries. The connection logs the failure.
                _isReceiving = false;
                _waiters.WakeAll();
                if (failure is RedisServerException refusal)
                {
                    TellRefused(refusal);
                }
            }

            try
            {
                TimeSpan left = s_interval - TimeProvider.System.GetElapsedTime(startedAt);
                await _wake.WaitAsync(left > TimeSpan.FromMilliseconds(20) ? left : TimeSpan.FromMilliseconds(20), _end.Token).ConfigureAwait(false);
            }
            catch (OperationCanceledException)
            {
                break;
            }
        }

        _waiters.WakeAll();
    }

    private (string[] Prefixes, int Version) Prefixes()
    {
        lock (_gate)
        {
            return (_prefixes, _prefixVersion);
        }
    }

    private void TellAlive(bool hasMissed, TimeSpan age)
    {
        lock (_tell)
        {
            foreach (Subscription subscription in Volatile.Read(ref _subscriptions))
            {
                if (hasMissed)
                {
                    subscription.Receiver.OnMissed();
                }

                subscription.Receiver.OnHeartbeat(age);
            }
        }

        if (hasMissed)
        {
            _waiters.WakeAll();
        }
    }

    private void TellRefused(RedisServerException refusal)
    {
        _refusals?.NoChanges(refusal);
        lock (_tell)
        {
            foreach (Subscription subscription in Volatile.Read(ref _subscriptions))
            {
                subscription.Receiver.OnRefused();
            }
        }
    }

    private void Tell(string key, Guid sender)
    {
        lock (_tell)
        {
            foreach (Subscription subscription in Volatile.Read(ref _subscriptions))
            {
                if (key.StartsWith(subscription.KeyPrefix, StringComparison.Ordinal))
                {
                    subscription.Receiver.OnChanged(new CacheChange(key, IsPrefix: false, sender));
                }
            }
        }

        _waiters.Wake(key);
    }

    private sealed class Subscription(ChangeChannel channel, string keyPrefix, ICacheChangeReceiver receiver) : IDisposable
    {
        private int _isDisposed;

        public string KeyPrefix { get; } = keyPrefix;

        public ICacheChangeReceiver Receiver { get; } = receiver;

        public void Dispose()
        {
            if (Interlocked.Exchange(ref _isDisposed, 1) == 0)
            {
                channel.Unsubscribe(this);
            }
        }
    }
}
