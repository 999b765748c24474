using System.Net;
using Cairn.Clients.Connections;
using Cairn.Clients.Nodes;
using Cairn.Redis.Cluster;
using Cairn.Redis.Nodes;
using Cairn.Redis.Resp;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Cairn.Redis;

/// <summary>
/// A client of a server that speaks the Redis protocol (Redis, Valkey, Garnet, Cairn), or of a Redis Cluster. It holds one connection to each
/// server. All callers share the connection, and their requests are pipelined.
/// </summary>
/// <remarks>
/// <para>Safe from any thread. One client serves a whole process. The client connects when a connection is first needed. It reconnects after a
/// connection is lost, at growing intervals. During a connection attempt, calls wait for it within their time-out; between attempts they fail
/// immediately. A call whose connection is lost before its reply fails with <see cref="RedisConnectionException"/>: the server may or may not
/// have executed the command. The client does not send it again, except in a Cluster if the command only reads.</para>
/// <para>The thread that receives a batch of replies completes their calls one after the other. Code after an <c>await</c> that blocks this
/// thread delays the other calls by some milliseconds, until another thread takes over.</para>
/// </remarks>
public sealed partial class RedisClient : IAsyncDisposable, IDisposable
{
    private static readonly TimeSpan s_pauseBeforeRetry = TimeSpan.FromMilliseconds(20);

    private readonly ILogger _logger;
    private readonly RedisConnectionFactory _factory;
    private readonly int _timeoutMs;
    private readonly Lock _gate = new();
    private object? _trackingOwner;
    private Task? _finding;
    private ServerNode? _node;
    private volatile ClusterTopology? _cluster;
    private volatile bool _isDisposed;

    private RedisClient(RedisClientOptions options, ILogger? logger)
    {
        options.Validate();
        Options = options;
        _logger = logger ?? NullLogger.Instance;
        _factory = new RedisConnectionFactory(options, typeof(RedisClient));
        _timeoutMs = (int)options.OperationTimeout.TotalMilliseconds;
        _node = MakeNode(options.EndPoints);
    }

    /// <summary>Gets the options that the client was created with.</summary>
    public RedisClientOptions Options { get; }

    /// <summary>Gets whether the server is part of a Cluster. False until the client has found that out.</summary>
    public bool IsCluster => _cluster is not null;

    /// <summary>Gets or sets the callback for a new connection. It runs shortly after the connection is established.</summary>
    internal Action<ServerNode, ServerConnection>? Connected { get; set; }

    /// <summary>Gets or sets the callback for a change of the set of servers.</summary>
    internal Action? NodesChanged { get; set; }

    /// <summary>Gets or sets the reader of pushes. It runs in order with replies.</summary>
    internal PushReader? Pushes { get; set; }

    /// <summary>Gets the required servers: one, or the masters of a Cluster.</summary>
    internal IReadOnlyCollection<ServerNode> Nodes => _cluster is { } cluster ? cluster.Masters : _node is { } node ? [node] : [];

    /// <summary>Creates a client. It connects at the first call.</summary>
    /// <param name="configuration">The configuration, in the format of <see cref="RedisClientOptions.Parse"/>.</param>
    /// <param name="logger">The logger of connection events; null for no logging.</param>
    /// <exception cref="FormatException">The configuration is malformed.</exception>
    public static RedisClient Create(string configuration, ILogger? logger = null) => new(RedisClientOptions.Parse(configuration), logger);

    /// <summary>Creates a client. It connects at the first call.</summary>
    /// <param name="options">The servers and the settings.</param>
    /// <param name="logger">The logger of connection events; null for no logging.</param>
    /// <exception cref="ArgumentException">An option is missing or out of range.</exception>
    public static RedisClient Create(RedisClientOptions options, ILogger? logger = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        return new RedisClient(options, logger);
    }

    /// <summary>Connects to the server, or to all masters of a Cluster. Throws with the reason if that fails.</summary>
    /// <param name="cancellationToken">Cancels the wait, but not the attempt.</param>
    /// <exception cref="RedisException">A connection could not be established.</exception>
    public async ValueTask ConnectAsync(CancellationToken cancellationToken = default)
    {
        long deadlineMs = Environment.TickCount64 + (long)Options.ConnectTimeout.TotalMilliseconds;
        await ReachAsync(deadlineMs, cancellationToken).ConfigureAwait(false);
        foreach (ServerNode node in Nodes)
        {
            await ConnectionOfAsync(node, deadlineMs, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Returns the current state of the connections. Sends no request.</summary>
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
                ProtocolVersion = node.Status is RedisStatus status ? status.IsResp3 ? 3 : 2 : 0,
                LastFailure = node.LastFailure?.Message,
            }),
        ],
    };

    /// <summary>Closes the connections. Calls without a reply fail.</summary>
    public async ValueTask DisposeAsync()
    {
        ClusterTopology? cluster;
        ServerNode? node;
        lock (_gate)
        {
            // A container disposes of a singleton once for each service type that it is registered as.
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
#pragma warning disable VSTHRD002 // A caller of Dispose, instead of DisposeAsync, expects to block.
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();
#pragma warning restore VSTHRD002

    /// <summary>Sends one command and returns the parsed reply.</summary>
    internal ValueTask<T> SendAsync<T>(
        ReplyParser<T> parser, object? state, ReadOnlySpan<RedisArgument> command, int keyIndex, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<T>(cancellationToken);
        }

        // The fast path adds no cost to the call itself: a single server, connected, with room.
        if (_cluster is null && _node is { Status: RedisStatus { IsCluster: false }, Current: { IsOpen: true } connection })
        {
            RespCall<T> call = RespCall<T>.Rent(parser, state, connection.Completions, Environment.TickCount64, _timeoutMs);
            try
            {
                if (connection.TrySend(new RespCommand(command), call))
                {
                    call.CancelWith(cancellationToken);
                    return call.Task;
                }

                call.Abandon();
            }
            catch (RedisConnectionException)
            {
                // The connection was lost between the check and the send.
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

    /// <summary>Sends commands with no other command between them, and returns the parsed last reply.</summary>
    internal ValueTask<T> SendManyAsync<T>(
        ReplyParser<T> parser, object? state, RedisArgument[][] commands, RedisArgument? key, CancellationToken cancellationToken) =>
        SendWithCareAsync(parser, state, commands, key, cancellationToken);

    /// <summary>Returns the node for a key, or any node if there is no key.</summary>
    internal async ValueTask<ServerNode> NodeForAsync(RedisArgument? key, long deadlineMs, CancellationToken cancellationToken)
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

        int slot = KeySlot.Of(known);
        return cluster.NodeOf(slot) ?? throw NoNode(slot);
    }

    internal ServerNode MakeNode(IReadOnlyList<EndPoint> places) => new(places, _factory, _logger, OnPush) { Connected = OnConnected };

    /// <summary>Creates a second connection to the same server, for commands that cannot use the shared one. The caller disposes of it.</summary>
    internal ServerNode MakeSideNode(ServerNode of, PushReader? onPush) => new(of.Places, _factory, _logger, onPush);

    /// <summary>Returns a key with this prefix that a node of a Cluster serves; null if there is no Cluster or no such key.</summary>
    internal string? FindServedKey(ServerNode node, string prefix) => _cluster?.FindServedKey(node, prefix);

    /// <summary>Notes that a node of the Cluster has replied with CLUSTERDOWN.</summary>
    internal void Doubt(ServerNode node) => _cluster?.Doubt(node);

    /// <summary>Starts to read the Cluster's slot map again. Does not wait for the result.</summary>
    internal void RefreshTopology()
    {
        if (_cluster is { } cluster)
        {
            _ = cluster.RefreshAsync(); // The task never faults.
        }
    }

    /// <summary>Reserves key tracking for one cache, because a connection has only one set of prefixes.</summary>
    internal void ClaimTracking(object owner)
    {
        if (Interlocked.CompareExchange(ref _trackingOwner, owner, null) is { } other && other != owner)
        {
            throw new InvalidOperationException("Another cache receives invalidations through this client. Create one client for each cache.");
        }
    }

    internal void ReleaseTracking(object owner) => Interlocked.CompareExchange(ref _trackingOwner, null, owner);

    /// <summary>Sends requests that are held back. A caller that is about to block its thread calls this first.</summary>
    internal void FlushHeldBack()
    {
        foreach (ServerNode node in Nodes)
        {
            node.Current?.FlushHeldBack();
        }
    }

    internal async ValueTask<ServerConnection> ConnectionOfAsync(ServerNode node, long deadlineMs, CancellationToken cancellationToken)
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
        catch (ObjectDisposedException ended) when (!_isDisposed)
        {
            // The node was in use when it was chosen. A command without an effect so far is sent to another node.
            throw new RedisConnectionException($"{node.Name} is no longer a node of the Cluster.", ended);
        }
    }

    private static RedisConnectionException NoNode(int slot) => new(
        slot < 0 ? "No node of the Cluster is known." : $"No node of the Cluster serves slot {slot}.");

    private static bool IsReadOnly(RedisArgument[][] commands) => commands.Length == 1
        && (commands[0][0].Is("GET") || commands[0][0].Is("HMGET") || commands[0][0].Is("MGET") || commands[0][0].Is("HGET") || commands[0][0].Is("EXISTS"));

    private void OnPush(ServerConnection connection, ReadOnlySpan<byte> push) => Pushes?.Invoke(connection, push);

    private void OnConnected(ServerNode node, ServerConnection connection) => Connected?.Invoke(node, connection);

    // Connects if necessary, to learn whether the server is part of a Cluster.
    private ValueTask ReachAsync(long deadlineMs, CancellationToken cancellationToken)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        return _cluster is not null || _node?.Status is RedisStatus { IsCluster: false } ? default : FindClusterAsync(deadlineMs, cancellationToken);
    }

    private async ValueTask FindClusterAsync(long deadlineMs, CancellationToken cancellationToken)
    {
        ServerNode? node = _node;
        if (node is null)
        {
            return;
        }

        await ConnectionOfAsync(node, deadlineMs, cancellationToken).ConfigureAwait(false);
        if (node.Status is not RedisStatus { IsCluster: true })
        {
            return;
        }

        // Concurrent callers share one read of the topology.
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

    private async Task ReadClusterAsync(ServerNode node)
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

    // The slow path: it waits for a connection and for room, and follows the nodes of a Cluster.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<T> SendWithCareAsync<T>(
        ReplyParser<T> parser, object? state, RedisArgument[][] commands, RedisArgument? key, CancellationToken cancellationToken)
    {
        long deadlineMs = Environment.TickCount64 + _timeoutMs;
        ServerNode? redirected = null;
        bool isAsking = false;
        while (true)
        {
            ServerNode? node = null;
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
                if (refusal.Code == "CLUSTERDOWN")
                {
                    cluster.Doubt(node);
                }

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
                // The server has become a replica. The next connection goes to another end point if one of them is not a replica.
                node?.Current?.Close(refusal);
                throw;
            }
            catch (RedisConnectionException lost) when (
                _cluster is not null && (!lost.MayHaveExecuted || IsReadOnly(commands)) && Environment.TickCount64 < deadlineMs && !_isDisposed)
            {
                // Another node may serve the slot by now.
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
            RespCall<T> call = RespCall<T>.Rent(parser, state, connection.Completions, nowMs, Math.Max(1, deadlineMs - nowMs));
            bool isSent;
            try
            {
                isSent = commands.Length == 1
                    ? connection.TrySend(new RespCommand(commands[0]), call, turn)
                    : connection.TrySend(new RespCommands(commands), call, turn);
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
