// Reports the changes of other processes to receivers, and confirms that it still receives them. One loop maintains all servers: it
// connects, sets up tracking or subscriptions, and sends a PING to each server, more than twice a second.
//
//   I1  A heartbeat is reported after every server has answered. Its age counts from before the first PING.
//   I2  After any reconnection or change of the set of servers, OnMissed is called before the next heartbeat, and after tracking or
//       the subscription is set up again.
//   I3  Receivers are called one at a time (_tell), and never after their subscription has ended.
//   I4  Changes made through this cache itself are not reported. The server leaves out the changes of the tracked connection (NOLOOP),
//       and messages name their sender.
using System.Text;
using Cairn.Caching;
using Cairn.Clients.Connections;
using Cairn.Clients.Nodes;
using Cairn.Protocol;

namespace Cairn.Redis.Invalidation;

internal sealed class ChangeChannel : IAsyncDisposable
{
    private const string RedirectedChannel = "__redis__:invalidate";

    // Receivers expect a heartbeat at least twice a second. The interval is shorter, so that one late iteration does not miss that.
    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(300);
    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(1);

    private readonly RedisClient _client;
    private readonly string _instanceName;
    private readonly string _publishChannel;
    private readonly Guid _self;
    private readonly Func<CancellationToken, ValueTask<ChannelMode>> _modeOf;
    private readonly Lock _gate = new();
    private readonly Lock _tell = new();
    private readonly SemaphoreSlim _wake = new(0, 1);
    private readonly CancellationTokenSource _end = new();
    private readonly Dictionary<ServerNode, ServerWatch> _watches = [];
    private readonly KeyWaiters _waiters = new();
    private Subscription[] _subscriptions = [];
    private string[] _prefixes = [];
    private int _prefixVersion;
    private int _serversVersion;
    private Task? _loop;
    private volatile bool _isReceiving;
    private bool _isDisposed;

    /// <summary>Creates a channel. It does nothing before the first subscription.</summary>
    /// <param name="client">The client whose connections receive the changes.</param>
    /// <param name="instanceName">The prefix of all keys on the server; receivers get keys without it.</param>
    /// <param name="publishChannel">The Redis channel on which changes are published.</param>
    /// <param name="self">The sender whose messages are ignored; empty to report all messages.</param>
    /// <param name="modeOf">Returns the mode in which the channel receives changes.</param>
    public ChangeChannel(
        RedisClient client, string instanceName, string publishChannel, Guid self, Func<CancellationToken, ValueTask<ChannelMode>> modeOf)
    {
        _client = client;
        _instanceName = instanceName;
        _publishChannel = publishChannel;
        _self = self;
        _modeOf = modeOf;
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
                _client.ClaimTracking(this);
                _client.Connected += OnConnected;
                _client.NodesChanged += OnNodesChanged;
                _client.Pushes += OnPush;
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
            _client.Connected -= OnConnected;
            _client.NodesChanged -= OnNodesChanged;
            _client.Pushes -= OnPush;
            _client.ReleaseTracking(this);
            await loop.ConfigureAwait(false);
        }

        foreach (ServerWatch watch in _watches.Values)
        {
            await watch.DisposeAsync().ConfigureAwait(false);
        }

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

    private void OnConnected(ServerNode node, ServerConnection connection) => Wake();

    private void OnNodesChanged()
    {
        Interlocked.Increment(ref _serversVersion);
        Wake();
    }

    private void Wake()
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

    private async Task RunAsync()
    {
        bool hasMissed = true;
        int serversVersion = -1;
        while (!_end.IsCancellationRequested)
        {
            long startedAt = TimeProvider.System.GetTimestamp();
            try
            {
                ChannelMode mode = await _modeOf(_end.Token).ConfigureAwait(false);
                int version = Volatile.Read(ref _serversVersion);
                ServerWatch[] watches = await MatchServersAsync().ConfigureAwait(false);
                hasMissed |= version != serversVersion;
                serversVersion = version;
                (string[] prefixes, int prefixVersion) = Prefixes();

                // Each watch reports its own missed changes, even if another watch fails.
                await Task.WhenAll(watches.Select(async watch =>
                {
                    if (await watch.TendAsync(
                        mode,
                        prefixes,
                        prefixVersion,
                        mode == ChannelMode.RedirectedTracking ? RedirectedChannel : _publishChannel,
                        s_timeout,
                        _end.Token).ConfigureAwait(false))
                    {
                        Volatile.Write(ref hasMissed, true);
                    }
                })).ConfigureAwait(false);
                if (prefixes.Length > 0 && version == Volatile.Read(ref _serversVersion))
                {
                    TellAlive(Volatile.Read(ref hasMissed), TimeProvider.System.GetElapsedTime(startedAt));
                    hasMissed = false;
                    _isReceiving = true;
                }
            }
            catch (Exception failure) when (failure is RedisException or TimeoutException or OperationCanceledException or ObjectDisposedException)
            {
                // Without heartbeats, receivers soon stop trusting their entries. The connection logs the failure.
                _isReceiving = false;
                _waiters.WakeAll();
                _client.RefreshTopology();
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

    private async ValueTask<ServerWatch[]> MatchServersAsync()
    {
        IReadOnlyCollection<ServerNode> nodes = _client.Nodes;
        foreach (ServerNode gone in _watches.Keys.Where(node => !nodes.Contains(node)).ToList())
        {
            await _watches[gone].DisposeAsync().ConfigureAwait(false);
            _watches.Remove(gone);
        }

        foreach (ServerNode node in nodes)
        {
            if (!_watches.ContainsKey(node))
            {
                _watches.Add(node, new ServerWatch(_client, node, OnPush));
            }
        }

        return [.. _watches.Values];
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

    // From a server that tracks keys:   invalidate [key, ...]   or null in place of the keys, which means all keys
    // From a subscription:              message channel text
    private void OnPush(ServerConnection connection, ReadOnlySpan<byte> message)
    {
        var push = new RespReplyReader(message);
        push.Read();
        if (!push.Read())
        {
            return;
        }

        if (push.Value.SequenceEqual("invalidate"u8))
        {
            ReadKeys(ref push);
        }
        else if (push.Value.SequenceEqual("message"u8) && push.Read())
        {
            if (push.Value.SequenceEqual("__redis__:invalidate"u8))
            {
                ReadKeys(ref push);
            }
            else if (Encoding.UTF8.GetString(push.Value) == _publishChannel && push.Read())
            {
                ReadMessage(push.Value);
            }
        }
    }

    private void ReadKeys(ref RespReplyReader push)
    {
        if (!push.Read())
        {
            return;
        }

        if (push.IsNull)
        {
            TellMissed();
            return;
        }

        for (int left = push.Count; left > 0 && push.Read(); left--)
        {
            Tell(Encoding.UTF8.GetString(push.Value), Guid.Empty, hasInstanceName: true);
        }
    }

    private void ReadMessage(ReadOnlySpan<byte> message)
    {
        if (message.Length < 16)
        {
            return;
        }

        var sender = new Guid(message[..16]);
        if (sender != _self || _self == Guid.Empty)
        {
            Tell(Encoding.UTF8.GetString(message[16..]), sender, hasInstanceName: false);
        }
    }

    private void Tell(string key, Guid sender, bool hasInstanceName)
    {
        if (hasInstanceName)
        {
            if (!key.StartsWith(_instanceName, StringComparison.Ordinal))
            {
                return;
            }

            key = key[_instanceName.Length..];
        }

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

    private void TellMissed()
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
