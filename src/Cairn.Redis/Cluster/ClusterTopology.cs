// The map from slots to nodes. It is read from any node that can be reached, again after every sign of a change, and at intervals.
//
//   I1  A slot names a node that some node reported as serving it. The map may be out of date: then that node replies with MOVED or cannot
//       be reached, and the caller reads the map again.
//   I2  The node that last replied with CLUSTERDOWN is asked last: the others may have replaced it, and its map is old.
//   I3  A node that no slot names is closed only after the slots were replaced, so that callers find the new node.
using System.Net;
using System.Text;
using Cairn.Clients.Connections;
using Cairn.Clients.Nodes;
using Cairn.Redis.Resp;
using Microsoft.Extensions.Logging;

namespace Cairn.Redis.Cluster;

internal sealed class ClusterTopology : IAsyncDisposable
{
    private static readonly TimeSpan s_shortestInterval = TimeSpan.FromMilliseconds(100);

    private readonly Lock _gate = new();
    private readonly RedisClientOptions _options;
    private readonly ILogger _logger;
    private readonly Func<EndPoint, ServerNode> _makeNode;
    private readonly ITimer _timer;
    private readonly CancellationTokenSource _end = new();
    private Dictionary<string, ServerNode> _nodes = new(StringComparer.Ordinal);
    private volatile ServerNode?[] _slots = new ServerNode?[HashSlot.Count];
    private Task? _refresh;
    private long _refreshedAtMs;
    private volatile ServerNode? _doubted;

    public ClusterTopology(RedisClientOptions options, ILogger logger, Func<EndPoint, ServerNode> makeNode)
    {
        _options = options;
        _logger = logger;
        _makeNode = makeNode;
        _timer = TimeProvider.System.CreateTimer(
            static topology => _ = ((ClusterTopology)topology!).RefreshAsync(), this, options.TopologyRefreshInterval, options.TopologyRefreshInterval);
    }

    /// <summary>Gets or sets the callback for a change of the set of masters.</summary>
    public Action? Changed { get; set; }

    /// <summary>Gets the nodes that serve slots.</summary>
    public IReadOnlyCollection<ServerNode> Masters
    {
        get
        {
            lock (_gate)
            {
                return [.. _nodes.Values];
            }
        }
    }

    public ServerNode? NodeOf(int slot) => _slots[slot];

    /// <summary>Returns a key with this prefix that the node serves; null if none is found.</summary>
    public string? FindServedKey(ServerNode node, string prefix)
    {
        // All keys have one slot if the prefix has a tag between braces.
        byte[] bytes = Encoding.UTF8.GetBytes(prefix);
        int tries = HashSlot.TagOf(bytes).Length < bytes.Length ? 1 : HashSlot.Count;
        for (int number = 0; number < tries; number++)
        {
            string key = string.Create(CultureInfo.InvariantCulture, $"{prefix}{number}");
            if (_slots[KeySlot.Of(key)] == node)
            {
                return key;
            }
        }

        return null;
    }

    /// <summary>Notes that a node has replied with CLUSTERDOWN (I2).</summary>
    public void Doubt(ServerNode node) => _doubted = node;

    /// <summary>Returns the node that a redirection names. MOVED updates its slot immediately and starts a refresh of the map.</summary>
    public ServerNode? Follow(Redirection redirection, ServerNode from)
    {
        string host = redirection.Host.Length > 0 ? redirection.Host : HostOf(from.Place);
        ServerNode? node = NodeAt(host, redirection.Port);
        if (node is not null && !redirection.IsAsk)
        {
            lock (_gate)
            {
                ServerNode?[] slots = [.. _slots];
                slots[redirection.Slot] = node;
                _slots = slots;
            }

            _ = RefreshAsync();
        }

        return node;
    }

    /// <summary>Reads the map again, at the earliest 100 ms after the last read. Joins a read in progress. Does not throw.</summary>
    public Task RefreshAsync(bool isFirst = false, ServerNode? seed = null)
    {
        lock (_gate)
        {
            if (_end.IsCancellationRequested)
            {
                return Task.CompletedTask;
            }

            if (_refresh is { IsCompleted: false })
            {
                return _refresh;
            }

            long waitMs = isFirst ? 0 : (long)s_shortestInterval.TotalMilliseconds - (Environment.TickCount64 - _refreshedAtMs);
            _refresh = Task.Run(() => RunRefreshAsync(Math.Max(0, waitMs), seed));
            return _refresh;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync().ConfigureAwait(false);
        await _timer.DisposeAsync().ConfigureAwait(false);
        Task? refresh;
        lock (_gate)
        {
            refresh = _refresh;
        }

        if (refresh is not null)
        {
            await refresh.ConfigureAwait(false);
        }

        foreach (ServerNode node in _nodes.Values)
        {
            await node.DisposeAsync().ConfigureAwait(false);
        }

        _end.Dispose();
    }

    private static string HostOf(EndPoint place) => place switch
    {
        DnsEndPoint dns => dns.Host,
        IPEndPoint ip => ip.Address.ToString(),
        _ => "",
    };

    private static string KeyOf(string host, int port) => string.Create(CultureInfo.InvariantCulture, $"{host}:{port}");

    private ServerNode? NodeAt(string host, int port)
    {
        if (host.Length == 0)
        {
            return null;
        }

        lock (_gate)
        {
            if (_end.IsCancellationRequested)
            {
                return null;
            }

            string key = KeyOf(host, port);
            if (!_nodes.TryGetValue(key, out ServerNode? node))
            {
                node = _makeNode(IPAddress.TryParse(host, out IPAddress? address) ? new IPEndPoint(address, port) : new DnsEndPoint(host, port));
                _nodes = new Dictionary<string, ServerNode>(_nodes, StringComparer.Ordinal) { [key] = node };
                node.Start();
            }

            return node;
        }
    }

    private async Task RunRefreshAsync(long waitMs, ServerNode? seed)
    {
        try
        {
            await Task.Delay(TimeSpan.FromMilliseconds(waitMs), _end.Token).ConfigureAwait(false);

            // Nodes with a connection come first. The end points of the configuration follow, in case none of the known nodes can be reached.
            ServerNode? doubted = _doubted;
            ServerNode[] known = [.. Masters.OrderBy(node => node != seed).ThenBy(node => node.Current is null)];
            foreach (ServerNode node in seed is null || known.Contains(seed) ? known : [seed, .. known])
            {
                if (node != doubted && await TryReadAsync(node).ConfigureAwait(false))
                {
                    return;
                }
            }

            foreach (EndPoint place in _options.EndPoints.Where(place => !place.Equals(doubted?.Place)))
            {
                ServerNode node = _makeNode(place);
                await using (node.ConfigureAwait(false))
                {
                    if (await TryReadAsync(node).ConfigureAwait(false))
                    {
                        return;
                    }
                }
            }

            if (doubted is not null)
            {
                await TryReadAsync(doubted).ConfigureAwait(false);
            }
        }
        catch (OperationCanceledException)
        {
            // The client is being disposed of.
        }
        finally
        {
            lock (_gate)
            {
                _refreshedAtMs = Environment.TickCount64;
            }
        }
    }

    private async Task<bool> TryReadAsync(ServerNode node)
    {
        try
        {
            ServerConnection connection = await node.GetAsync(_options.ConnectTimeout, _end.Token).ConfigureAwait(false);
            RedisReply reply = await connection.AskAsync(["CLUSTER", "SLOTS"], _options.OperationTimeout, _end.Token).ConfigureAwait(false);
            return await TryTakeAsync(reply, node).ConfigureAwait(false);
        }
        catch (Exception failure) when (failure is RedisException or TimeoutException or ObjectDisposedException)
        {
            return false;
        }
    }

    // [[from, to, [host, port, id, ...], replicas...], ...]
    private async Task<bool> TryTakeAsync(RedisReply reply, ServerNode from)
    {
        var slots = new ServerNode?[HashSlot.Count];
        var masters = new HashSet<ServerNode>();
        foreach (RedisReply range in reply.Items)
        {
            if (range.Items.Count < 3 || range.Items[2].Items.Count < 2)
            {
                return false;
            }

            // A node that does not know its own address leaves the host out. It is the node that was asked.
            string host = range.Items[2].Items[0].Text is { Length: > 0 } told and not "?" ? told : HostOf(from.Place);
            long first = range.Items[0].Integer;
            long last = range.Items[1].Integer;
            if (first < 0 || last >= HashSlot.Count || NodeAt(host, (int)range.Items[2].Items[1].Integer) is not { } node)
            {
                return false;
            }

            masters.Add(node);
            slots.AsSpan((int)first, (int)Math.Max(0, last - first + 1)).Fill(node);
        }

        if (masters.Count == 0)
        {
            return false;
        }

        List<ServerNode> gone;
        bool isChanged;
        lock (_gate)
        {
            isChanged = !masters.SetEquals(_slots.Where(node => node is not null)!);
            gone = [.. _nodes.Values.Where(node => !masters.Contains(node))];
            _nodes = _nodes.Where(pair => masters.Contains(pair.Value)).ToDictionary(StringComparer.Ordinal);
            _slots = slots;
        }

        if (isChanged)
        {
            ClusterLog.TopologyRead(_logger, masters.Count, from.Name);
            Changed?.Invoke();
        }

        foreach (ServerNode node in gone)
        {
            await node.DisposeAsync().ConfigureAwait(false);
        }

        return true;
    }
}
