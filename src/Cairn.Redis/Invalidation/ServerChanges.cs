// Receives the changes of all servers of a client, with a ServerWatch for each of them.
//
//   I1  A server that joins or leaves makes the state LiveAfterGap: its keys may have changed unheard.
//   I2  A watch that reports missed changes does so even if another watch fails (_hasMissed).
using Cairn.Clients.Connections;
using Cairn.Clients.Nodes;
using Cairn.Protocol;

namespace Cairn.Redis.Invalidation;

/// <summary>The changes of all servers of a client.</summary>
/// <param name="client">The client whose connections receive the changes.</param>
/// <param name="publishChannel">The Redis channel on which changes are published.</param>
/// <param name="modeOf">Returns the mode in which changes are received.</param>
internal sealed class ServerChanges(RedisClient client, string publishChannel, Func<CancellationToken, ValueTask<ChannelMode>> modeOf) : IChangeSource
{
    private const string RedirectedChannel = "__redis__:invalidate";

    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(1);

    private readonly Dictionary<ServerNode, ServerWatch> _watches = [];
    private ChangeChannel? _channel;
    private int _serversVersion;
    private int _knownServersVersion = -1;
    private bool _hasMissed = true;

    public void Start(ChangeChannel channel)
    {
        client.ClaimTracking(this);
        _channel = channel;
        client.Connected += OnConnected;
        client.NodesChanged += OnNodesChanged;
        client.Pushes += OnPush;
    }

    public void Stop()
    {
        client.Connected -= OnConnected;
        client.NodesChanged -= OnNodesChanged;
        client.Pushes -= OnPush;
        client.ReleaseTracking(this);
    }

    public async ValueTask<SourceState> TendAsync(IReadOnlyList<string> prefixes, int prefixVersion, CancellationToken cancellationToken)
    {
        try
        {
            ChannelMode mode = await modeOf(cancellationToken).ConfigureAwait(false);
            if (mode == ChannelMode.PublishSubscribe)
            {
                // The client knows the servers only after it has reached one of them.
                await client.ConnectAsync(cancellationToken).ConfigureAwait(false);
            }

            int version = Volatile.Read(ref _serversVersion);
            ServerWatch[] watches = await MatchServersAsync().ConfigureAwait(false);
            if (version != _knownServersVersion)
            {
                _knownServersVersion = version;
                Volatile.Write(ref _hasMissed, true);
            }

            await Task.WhenAll(watches.Select(async watch =>
            {
                if (await watch.TendAsync(
                    mode,
                    prefixes,
                    prefixVersion,
                    mode == ChannelMode.RedirectedTracking ? RedirectedChannel : publishChannel,
                    s_timeout,
                    cancellationToken).ConfigureAwait(false))
                {
                    Volatile.Write(ref _hasMissed, true);
                }
            })).ConfigureAwait(false);
            if (version != Volatile.Read(ref _serversVersion))
            {
                return SourceState.Changing;
            }

            bool hasMissed = Volatile.Read(ref _hasMissed);
            _hasMissed = false;
            return hasMissed ? SourceState.LiveAfterGap : SourceState.Live;
        }
        catch (Exception failure) when (failure is RedisException or TimeoutException)
        {
            client.RefreshTopology();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (ServerWatch watch in _watches.Values)
        {
            await watch.DisposeAsync().ConfigureAwait(false);
        }
    }

    private void OnConnected(ServerNode node, ServerConnection connection) => _channel!.Wake();

    private void OnNodesChanged()
    {
        Interlocked.Increment(ref _serversVersion);
        _channel!.Wake();
    }

    private async ValueTask<ServerWatch[]> MatchServersAsync()
    {
        IReadOnlyCollection<ServerNode> nodes = client.Nodes;
        foreach (ServerNode gone in _watches.Keys.Where(node => !nodes.Contains(node)).ToList())
        {
            await _watches[gone].DisposeAsync().ConfigureAwait(false);
            _watches.Remove(gone);
        }

        foreach (ServerNode node in nodes)
        {
            if (!_watches.ContainsKey(node))
            {
                _watches.Add(node, new ServerWatch(client, node, OnPush));
            }
        }

        return [.. _watches.Values];
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
            else if (Encoding.UTF8.GetString(push.Value) == publishChannel && push.Read())
            {
                _channel!.OnMessage(push.Value);
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
            _channel!.OnAllChanged();
            return;
        }

        for (int left = push.Count; left > 0 && push.Read(); left--)
        {
            _channel!.OnChanged(push.Value);
        }
    }
}
