using System.Net;
using System.Runtime.CompilerServices;
using Cairn.Protocol;
using Cairn.Redis.Cluster;
using Cairn.Redis.Connections;
using Cairn.Redis.Nodes;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Redis;

/// <summary>
/// A client of a server that speaks Redis' protocol (Redis, Valkey, Garnet, Cairn), or of a Redis Cluster: one connection to each
/// server, shared by all callers, on which requests and replies follow each other without pause.
/// </summary>
/// <remarks>
/// <para>Safe from any thread; one client is meant for a whole process. Connections are made when they are first needed, and again when
/// they are lost, at growing intervals. While a connection is being made, calls wait for it within their time-out; between attempts
/// they fail at once. A call whose connection is lost before its reply fails with <see cref="RedisConnectionException"/>: whether
/// it was executed is not known, and it is not sent again, except in a Cluster where it only reads.</para>
/// <para>Results are given to their callers one after the other where they were received. Code behind an <c>await</c> that blocks its
/// thread delays others by some milliseconds, until another thread goes on.</para>
/// </remarks>
public sealed partial class RedisClient : IAsyncDisposable, IDisposable
{
    private static readonly TimeSpan s_pauseBeforeRetry = TimeSpan.FromMilliseconds(20);

    private readonly ILogger _logger;
    private readonly ConnectionFactory _factory;
    private readonly int _timeoutMs;
    private readonly Lock _gate = new();
    private object? _trackingOwner;
    private Task? _finding;
    private RedisNode? _node;
    private volatile ClusterTopology? _cluster;
    private volatile bool _isDisposed;

    private RedisClient(RedisClientOptions options, ILogger? logger)
    {
        options.Validate();
        Options = options;
        _logger = logger ?? NullLogger.Instance;
        _factory = new ConnectionFactory(options);
        _timeoutMs = (int)options.OperationTimeout.TotalMilliseconds;
        _node = MakeNode(options.EndPoints);
    }

    /// <summary>What it was created with.</summary>
    public RedisClientOptions Options { get; }

    /// <summary>True once it is known that the server is part of a Cluster.</summary>
    public bool IsCluster => _cluster is not null;

    /// <summary>Tells of a server that was connected to, soon after.</summary>
    internal Action<RedisNode, ServerConnection>? Connected { get; set; }

    /// <summary>Tells that the servers are others.</summary>
    internal Action? NodesChanged { get; set; }

    /// <summary>Reads pushes, in order with replies.</summary>
    internal PushReader? Pushes { get; set; }

    /// <summary>The servers that are needed: one, or the masters of a Cluster.</summary>
    internal IReadOnlyCollection<RedisNode> Nodes => _cluster is { } cluster ? cluster.Masters : _node is { } node ? [node] : [];

    internal ILogger Logger => _logger;

    /// <summary>Creates a client. Nothing is connected to before the first call.</summary>
    /// <param name="configuration">As <see cref="RedisClientOptions.Parse"/> takes it.</param>
    /// <param name="logger">Is told of connections; null for nobody.</param>
    /// <exception cref="FormatException">The configuration cannot be read.</exception>
    public static RedisClient Create(string configuration, ILogger? logger = null) => new(RedisClientOptions.Parse(configuration), logger);

    /// <summary>Creates a client. Nothing is connected to before the first call.</summary>
    /// <param name="options">Where the server is, and how to connect.</param>
    /// <param name="logger">Is told of connections; null for nobody.</param>
    /// <exception cref="ArgumentException">An option is missing or out of range.</exception>
    public static RedisClient Create(RedisClientOptions options, ILogger? logger = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        return new RedisClient(options, logger);
    }

    /// <summary>Makes the connection, of a Cluster all of them, or finds out why that cannot be done.</summary>
    /// <param name="cancellationToken">Ends the wait, not the attempt.</param>
    /// <exception cref="RedisException">It could not be made.</exception>
    public async ValueTask ConnectAsync(CancellationToken cancellationToken = default)
    {
        long deadlineMs = Environment.TickCount64 + (long)Options.ConnectTimeout.TotalMilliseconds;
        await ReachAsync(deadlineMs, cancellationToken).ConfigureAwait(false);
        foreach (RedisNode node in Nodes)
        {
            await ConnectionOfAsync(node, deadlineMs, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>How the connections are now. Asks no server.</summary>
    public RedisHealth GetHealth() => new()
    {
        Servers =
        [
            .. Nodes.Select(node => new RedisServerHealth
            {
                Server = node.Name,
                IsConnected = node.Current is { IsOpen: true },
                PendingCalls = node.Current?.InFlightCount ?? 0,
                Connections = node.Connections,
                ProtocolVersion = node.Status is { } status ? status.IsResp3 ? 3 : 2 : 0,
                LastFailure = node.LastFailure?.Message,
            }),
        ],
    };

    /// <summary>Closes the connections. Calls that have no reply fail.</summary>
    public async ValueTask DisposeAsync()
    {
        ClusterTopology? cluster;
        RedisNode? node;
        lock (_gate)
        {
            // A container closes what it made once for each service that it is registered as.
            if (_isDisposed)
            {
                return;
            }

            _isDisposed = true;
            (cluster, node) = (_cluster, _node);
            _node = null;
        }

        if (node is not null)
        {
            await node.DisposeAsync().ConfigureAwait(false);
        }

        if (cluster is not null)
        {
            await cluster.DisposeAsync().ConfigureAwait(false);
        }
    }

    /// <inheritdoc cref="DisposeAsync"/>
#pragma warning disable VSTHRD002 // Who calls this instead of DisposeAsync wants to wait.
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    /// <summary>Sends one command and makes the result of its reply.</summary>
    internal ValueTask<T> SendAsync<T>(
        ReplyParser<T> parser, object? state, ReadOnlySpan<RedisArgument> command, int keyIndex, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<T>(cancellationToken);
        }

        // The usual case costs nothing but the call: one server, connected, with room.
        if (_cluster is null && _node is { Status: { IsCluster: false }, Current: { IsOpen: true } connection })
        {
            ReplyCall<T> call = ReplyCall<T>.Rent(parser, state, connection.Completions, Environment.TickCount64, _timeoutMs);
            try
            {
                if (connection.TrySend(command, call))
                {
                    call.CancelWith(cancellationToken);
                    return call.Task;
                }

                call.Abandon();
            }
            catch (RedisConnectionException)
            {
                // It was lost this instant.
                call.Abandon();
            }
            catch
            {
                call.Abandon();
                throw;
            }
        }

        return SendWithCareAsync(parser, state, [command.ToArray()], keyIndex < 0 ? default(RedisArgument?) : command[keyIndex], cancellationToken);
    }

    /// <summary>Sends commands that no other come between, and makes the result of the last reply.</summary>
    internal ValueTask<T> SendManyAsync<T>(
        ReplyParser<T> parser, object? state, RedisArgument[][] commands, RedisArgument? key, CancellationToken cancellationToken) =>
        SendWithCareAsync(parser, state, commands, key, cancellationToken);

    /// <summary>The node for a key, or any.</summary>
    internal async ValueTask<RedisNode> NodeForAsync(RedisArgument? key, long deadlineMs, CancellationToken cancellationToken)
    {
        await ReachAsync(deadlineMs, cancellationToken).ConfigureAwait(false);
        if (_cluster is not { } cluster)
        {
            return _node ?? throw new ObjectDisposedException(nameof(RedisClient));
        }

        if (key is not { } known)
        {
            return cluster.Masters.OrderBy(node => node.Current is null).FirstOrDefault() ?? throw NoNode(-1);
        }

        int slot = HashSlot.Of(known);
        return cluster.NodeOf(slot) ?? throw NoNode(slot);
    }

    internal RedisNode MakeNode(IReadOnlyList<EndPoint> places) => new(places, _factory, Options, _logger, OnPush) { Connected = OnConnected };

    /// <summary>A second connection to the same server, for what cannot go over the shared one. The caller disposes of it.</summary>
    internal RedisNode MakeSideNode(RedisNode of, PushReader? onPush) => new(of.Places, _factory, Options, _logger, onPush);

    /// <summary>Asks a Cluster again which nodes serve which slots, soon.</summary>
    internal void RefreshTopology()
    {
        if (_cluster is { } cluster)
        {
            _ = cluster.RefreshAsync(); // It does not throw.
        }
    }

    /// <summary>Takes the tracking of keys for one cache: a connection has one set of prefixes.</summary>
    internal void ClaimTracking(object owner)
    {
        if (Interlocked.CompareExchange(ref _trackingOwner, owner, null) is { } other && other != owner)
        {
            throw new InvalidOperationException("Another cache hears of changes through this client. Give each cache a client of its own.");
        }
    }

    internal void ReleaseTracking(object owner) => Interlocked.CompareExchange(ref _trackingOwner, null, owner);

    /// <summary>Sends what is held back. For who is about to block this thread.</summary>
    internal void FlushHeldBack()
    {
        foreach (RedisNode node in Nodes)
        {
            node.Current?.FlushHeldBack();
        }
    }

    internal static async ValueTask<ServerConnection> ConnectionOfAsync(RedisNode node, long deadlineMs, CancellationToken cancellationToken)
    {
        long leftMs = deadlineMs - Environment.TickCount64;
        try
        {
            return leftMs > 0
                ? await node.GetAsync(TimeSpan.FromMilliseconds(leftMs), cancellationToken).ConfigureAwait(false)
                : throw new TimeoutException();
        }
        catch (TimeoutException late)
        {
            throw new RedisTimeoutException($"There was no connection to {node.Name} within the time-out. {node.LastFailure?.Message}", late);
        }
    }

    private static RedisConnectionException NoNode(int slot) => new(
        slot < 0 ? "No node of the Cluster is known." : $"No node of the Cluster serves slot {slot}.");

    private static bool IsReadOnly(RedisArgument[][] commands) => commands.Length == 1
        && (commands[0][0].Is("GET") || commands[0][0].Is("HMGET") || commands[0][0].Is("MGET") || commands[0][0].Is("HGET") || commands[0][0].Is("EXISTS"));

    private void OnPush(ServerConnection connection, ref RespReplyReader push) => Pushes?.Invoke(connection, ref push);

    private void OnConnected(RedisNode node, ServerConnection connection) => Connected?.Invoke(node, connection);

    // Finds out, with the first connection, whether the server is part of a Cluster.
    private ValueTask ReachAsync(long deadlineMs, CancellationToken cancellationToken)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        return _cluster is not null || _node?.Status is { IsCluster: false } ? default : FindClusterAsync(deadlineMs, cancellationToken);
    }

    private async ValueTask FindClusterAsync(long deadlineMs, CancellationToken cancellationToken)
    {
        RedisNode? node = _node;
        if (node is null)
        {
            return;
        }

        await ConnectionOfAsync(node, deadlineMs, cancellationToken).ConfigureAwait(false);
        if (node.Status is not { IsCluster: true })
        {
            return;
        }

        // One finds out for all.
        Task finding;
        lock (_gate)
        {
            finding = _finding is { IsCompleted: false } ? _finding : _finding = Task.Run(() => ReadClusterAsync(node), CancellationToken.None);
        }

        try
        {
            await finding.WaitAsync(TimeSpan.FromMilliseconds(Math.Max(0, deadlineMs - Environment.TickCount64)), cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException late)
        {
            throw new RedisTimeoutException($"{node.Name} did not tell the topology of its Cluster within the time-out.", late);
        }
    }

    private async Task ReadClusterAsync(RedisNode node)
    {
        if (_cluster is not null)
        {
            return;
        }

        var cluster = new ClusterTopology(Options, _logger, place => MakeNode([place]));
        cluster.Changed += () => NodesChanged?.Invoke();
        await cluster.RefreshAsync(isFirst: true, node).ConfigureAwait(false);
        bool isTaken = false;
        lock (_gate)
        {
            if (!_isDisposed && _cluster is null && cluster.Masters.Count > 0)
            {
                _cluster = cluster;
                _node = null;
                isTaken = true;
            }
        }

        if (isTaken)
        {
            NodesChanged?.Invoke();
            await node.DisposeAsync().ConfigureAwait(false);
            return;
        }

        await cluster.DisposeAsync().ConfigureAwait(false);
        if (_cluster is null)
        {
            throw new RedisConnectionException($"{node.Name} is a node of a Cluster and could not tell its topology.");
        }
    }

    // All that the short way leaves out: waiting for the connection and for room, the nodes of a Cluster.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<T> SendWithCareAsync<T>(
        ReplyParser<T> parser, object? state, RedisArgument[][] commands, RedisArgument? key, CancellationToken cancellationToken)
    {
        long deadlineMs = Environment.TickCount64 + _timeoutMs;
        RedisNode? redirected = null;
        bool isAsking = false;
        while (true)
        {
            RedisNode? node = null;
            try
            {
                node = redirected ?? await NodeForAsync(key, deadlineMs, cancellationToken).ConfigureAwait(false);
                redirected = null;
                ServerConnection connection = await ConnectionOfAsync(node, deadlineMs, cancellationToken).ConfigureAwait(false);
                return await SendOverAsync(connection, parser, state, isAsking ? [["ASKING"], .. commands] : commands, deadlineMs, cancellationToken)
                    .ConfigureAwait(false);
            }
            catch (RedisServerException refusal) when (_cluster is { } cluster && node is not null && IsWorthRetry(refusal.Code, deadlineMs))
            {
                isAsking = false;
                if (Redirection.TryParse(refusal.Message, out Redirection redirection) && (!redirection.IsAsk || commands.Length == 1))
                {
                    redirected = cluster.Follow(redirection, node);
                    isAsking = redirection.IsAsk;
                    if (redirected is not null)
                    {
                        continue;
                    }
                }
            }
            catch (RedisServerException refusal) when (refusal.Code == "READONLY" && _cluster is null && Options.EndPoints.Count > 1)
            {
                // It is a replica by now. The next connection goes to another of the end points, if one of them is not.
                node?.Current?.Close(refusal);
                throw;
            }
            catch (RedisConnectionException lost) when (
                _cluster is not null && (!lost.MayHaveExecuted || IsReadOnly(commands)) && Environment.TickCount64 < deadlineMs && !_isDisposed)
            {
                // Perhaps another node serves the slot by now.
            }

            RefreshTopology();
            await Task.Delay(s_pauseBeforeRetry, cancellationToken).ConfigureAwait(false);
        }
    }

    private static bool IsWorthRetry(string code, long deadlineMs) =>
        code is "MOVED" or "ASK" or "TRYAGAIN" or "CLUSTERDOWN" or "READONLY" or "LOADING" or "MASTERDOWN" && Environment.TickCount64 < deadlineMs;

    private static async ValueTask<T> SendOverAsync<T>(
        ServerConnection connection, ReplyParser<T> parser, object? state, RedisArgument[][] commands, long deadlineMs, CancellationToken cancellationToken)
    {
        var turn = SendTurn.New;
        while (true)
        {
            long nowMs = Environment.TickCount64;
            ReplyCall<T> call = ReplyCall<T>.Rent(parser, state, connection.Completions, nowMs, Math.Max(1, deadlineMs - nowMs));
            bool isSent;
            try
            {
                isSent = commands.Length == 1
                    ? connection.TrySend(commands[0], call, turn)
                    : connection.TrySendMany(commands, call, turn);
            }
            catch
            {
                call.Abandon();
                throw;
            }

            if (isSent)
            {
                call.CancelWith(cancellationToken);
                return await call.Task.ConfigureAwait(false);
            }

            call.Abandon();
            await WaitForRoomAsync(connection, deadlineMs, cancellationToken).ConfigureAwait(false);
            turn = SendTurn.Waited;
        }
    }

    private static async Task WaitForRoomAsync(ServerConnection connection, long deadlineMs, CancellationToken cancellationToken)
    {
        try
        {
            long leftMs = Math.Max(0, deadlineMs - Environment.TickCount64);
            await connection.WaitForRoomAsync(TimeSpan.FromMilliseconds(leftMs), cancellationToken).ConfigureAwait(false);
        }
        catch (TimeoutException late)
        {
            throw new RedisTimeoutException($"{connection.Name} has so many calls to reply to that this one found no room within the time-out.", late);
        }
    }
}
