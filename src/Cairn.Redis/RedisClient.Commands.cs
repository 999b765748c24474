using Cairn.Clients.Connections;
using Cairn.Clients.Nodes;
using Cairn.Protocol;
using Cairn.Redis.Cluster;
using Cairn.Redis.Nodes;
using Cairn.Redis.Resp;

namespace Cairn.Redis;

public sealed partial class RedisClient
{
    /// <summary>Executes a command that has one immediate reply.</summary>
    /// <param name="command">
    /// The words of the command. In a Cluster, the first key selects the node; a command without a key goes to any node.
    /// </param>
    /// <param name="cancellationToken">Cancels the wait; the server may execute the command anyway.</param>
    /// <returns>The reply. An error reply is an exception instead.</returns>
    /// <exception cref="RedisServerException">The server replied with an error.</exception>
    /// <exception cref="RedisConnectionException">There is no connection, or it was lost.</exception>
    /// <exception cref="RedisTimeoutException">The time-out has passed.</exception>
    /// <remarks>
    /// All callers share one connection. Do not send commands that change its state (<c>SELECT</c>, <c>SUBSCRIBE</c>, <c>MULTI</c>, <c>WATCH</c>,
    /// <c>MONITOR</c>, <c>CLIENT REPLY</c>) or block it (<c>BLPOP</c>). For transactions, use <see cref="ExecuteTransactionAsync"/>.
    /// </remarks>
    public ValueTask<RedisReply> ExecuteAsync(ReadOnlySpan<RedisArgument> command, CancellationToken cancellationToken = default)
    {
        Check(command);
        return SendAsync(Parsers.Reply, null, command, KeyOf(command), cancellationToken);
    }

    /// <summary>Executes a command whose reply is bytes, and writes them to a buffer.</summary>
    /// <param name="command">The words of the command.</param>
    /// <param name="destination">
    /// The buffer. The thread that receives the reply writes to it, before the call completes. It stays unchanged if the result is false.
    /// </param>
    /// <param name="cancellationToken">Cancels the wait. The buffer is not written to after the call completes.</param>
    /// <returns>False if the reply is null.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)"/>
    public ValueTask<bool> ExecuteAsync(
        ReadOnlySpan<RedisArgument> command, IBufferWriter<byte> destination, CancellationToken cancellationToken = default)
    {
        Check(command);
        ArgumentNullException.ThrowIfNull(destination);
        return SendAsync(Parsers.Into, destination, command, KeyOf(command), cancellationToken);
    }

    /// <summary>Sends a command without waiting for its reply. The reply is discarded, even if it is an error.</summary>
    /// <param name="command">The words of the command.</param>
    /// <param name="cancellationToken">Cancels the wait for a connection and for room.</param>
    /// <returns>A task that completes when the command is queued, usually immediately. The command may still fail to reach the server.</returns>
    /// <exception cref="RedisConnectionException">There is no connection.</exception>
    public ValueTask PostAsync(ReadOnlySpan<RedisArgument> command, CancellationToken cancellationToken = default)
    {
        Check(command);
        if (_cluster is null && _node is { Status: RedisStatus { IsCluster: false }, Current: { IsOpen: true } connection } && !cancellationToken.IsCancellationRequested)
        {
            try
            {
                if (connection.TrySend(new RespCommand(command), call: null))
                {
                    return default;
                }
            }
            catch (RedisConnectionException)
            {
                // The connection was lost between the check and the send.
            }
        }

        int key = KeyOf(command);
        return PostWithCareAsync(command.ToArray(), key < 0 ? default(RedisArgument?) : command[key], cancellationToken);
    }

    /// <summary>Executes commands as one transaction (<c>MULTI</c> and <c>EXEC</c>).</summary>
    /// <param name="commands">The commands, in order. In a Cluster, all their keys must belong to one slot.</param>
    /// <param name="cancellationToken">Cancels the wait; the server may execute the commands anyway.</param>
    /// <returns>The replies, in order.</returns>
    /// <exception cref="RedisServerException">
    /// The server refused a command and executed none; or a command failed and the others were executed.
    /// </exception>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)" path="/exception"/>
    public async ValueTask<IReadOnlyList<RedisReply>> ExecuteTransactionAsync(
        IReadOnlyList<RedisArgument[]> commands, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(commands);
        RedisArgument? key = null;
        foreach (RedisArgument[] command in commands)
        {
            Check(command);
            if (key is null && KeyOf(command) is var at and >= 0)
            {
                key = command[at];
            }
        }

        RedisReply[]? replies = await SendManyAsync(
            Parsers.Transaction, null, [["MULTI"], .. commands, ["EXEC"]], key, cancellationToken).ConfigureAwait(false);
        return replies ?? throw new RedisException("The transaction was given up by the server.");
    }

    /// <summary>Sends a <c>PING</c> to the server, or to all masters of a Cluster.</summary>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>The time until the reply; in a Cluster, the time of the slowest node.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)" path="/exception"/>
    public async ValueTask<TimeSpan> PingAsync(CancellationToken cancellationToken = default)
    {
        long startedAt = TimeProvider.System.GetTimestamp();
        long deadlineMs = Environment.TickCount64 + _timeoutMs;
        await ReachAsync(deadlineMs, cancellationToken).ConfigureAwait(false);
        await Task.WhenAll(Nodes.Select(async node =>
        {
            ServerConnection connection = await ConnectionOfAsync(node, deadlineMs, cancellationToken).ConfigureAwait(false);
            await connection.AskAsync(["PING"], Options.OperationTimeout, cancellationToken).ConfigureAwait(false);
        })).ConfigureAwait(false);
        return TimeProvider.System.GetElapsedTime(startedAt);
    }

    /// <summary>Lists the keys of all masters that match a glob pattern. A key can occur several times.</summary>
    internal async IAsyncEnumerable<string> ScanAsync(string pattern, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        long reachDeadlineMs = Environment.TickCount64 + _timeoutMs;
        await ReachAsync(reachDeadlineMs, cancellationToken).ConfigureAwait(false);
        foreach (ServerNode node in Nodes)
        {
            string cursor = "0";
            do
            {
                long deadlineMs = Environment.TickCount64 + _timeoutMs;
                ServerConnection connection = await ConnectionOfAsync(node, deadlineMs, cancellationToken).ConfigureAwait(false);
                RedisReply reply = await connection.AskAsync(
                    ["SCAN", cursor, "MATCH", pattern, "COUNT", "250"], Options.OperationTimeout, cancellationToken).ConfigureAwait(false);
                foreach (RedisReply key in reply.Items[1].Items)
                {
                    yield return key.Text!;
                }

                cursor = reply.Items[0].Text!;
            }
            while (cursor != "0");
        }
    }

    /// <summary>Reads a key's value (<c>GET</c>) into a buffer.</summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">The buffer for the value. It stays unchanged if the result is false.</param>
    /// <param name="cancellationToken">Cancels the wait. The buffer is not written to after the call completes.</param>
    /// <returns>False if there is no value.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)" path="/exception"/>
    public ValueTask<bool> GetAsync(RedisArgument key, IBufferWriter<byte> destination, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(destination);
        return SendAsync(Parsers.Into, destination, ["GET", key], 1, cancellationToken);
    }

    /// <summary>Reads a key's value (<c>GET</c>).</summary>
    /// <param name="key">The key.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>A copy of the value; null if there is none.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)" path="/exception"/>
    public ValueTask<byte[]?> GetAsync(RedisArgument key, CancellationToken cancellationToken = default) =>
        SendAsync(Parsers.Bytes, null, ["GET", key], 1, cancellationToken);

    /// <summary>Sets a key's value (<c>SET</c>).</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="timeToLive">The time to live from now, at least 1 ms; null for no expiration.</param>
    /// <param name="condition">The condition for setting the value.</param>
    /// <param name="cancellationToken">Cancels the wait; the value may be set anyway.</param>
    /// <returns>False if the condition did not hold.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)" path="/exception"/>
    public ValueTask<bool> SetAsync(
        RedisArgument key,
        RedisArgument value,
        TimeSpan? timeToLive = null,
        RedisSetCondition condition = RedisSetCondition.Always,
        CancellationToken cancellationToken = default)
    {
        RedisArgument word = condition == RedisSetCondition.IfMissing ? "NX" : "XX";
        if (timeToLive is not { } time)
        {
            return condition == RedisSetCondition.Always
                ? SendAsync(Parsers.NotNull, null, ["SET", key, value], 1, cancellationToken)
                : SendAsync(Parsers.NotNull, null, ["SET", key, value, word], 1, cancellationToken);
        }

        ArgumentOutOfRangeException.ThrowIfLessThan(time, TimeSpan.FromMilliseconds(1), nameof(timeToLive));
        long ms = (long)Math.Ceiling(time.TotalMilliseconds);
        return condition == RedisSetCondition.Always
            ? SendAsync(Parsers.NotNull, null, ["SET", key, value, "PX", ms], 1, cancellationToken)
            : SendAsync(Parsers.NotNull, null, ["SET", key, value, "PX", ms, word], 1, cancellationToken);
    }

    /// <summary>Removes a key (<c>DEL</c>).</summary>
    /// <param name="key">The key.</param>
    /// <param name="cancellationToken">Cancels the wait; the key may be removed anyway.</param>
    /// <returns>True if the key existed.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)" path="/exception"/>
    public async ValueTask<bool> DeleteAsync(RedisArgument key, CancellationToken cancellationToken = default) =>
        await SendAsync(Parsers.Number, null, ["DEL", key], 1, cancellationToken).ConfigureAwait(false) > 0;

    /// <summary>Removes keys (<c>DEL</c>); in a Cluster, with one command for each slot.</summary>
    /// <param name="keys">The keys.</param>
    /// <param name="cancellationToken">Cancels the wait; keys may be removed anyway.</param>
    /// <returns>The number of keys that existed.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)" path="/exception"/>
    public async ValueTask<long> DeleteAsync(IReadOnlyList<RedisArgument> keys, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(keys);
        long[] counts = await Task.WhenAll((await SplitAsync(keys, cancellationToken).ConfigureAwait(false)).Select(
            part => SendAsync(Parsers.Number, null, ["DEL", .. part.Select(at => keys[at])], 1, cancellationToken).AsTask())).ConfigureAwait(false);
        return counts.Sum();
    }

    /// <summary>Reads the values of keys (<c>MGET</c>); in a Cluster, with one command for each slot.</summary>
    /// <param name="keys">The keys.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>Copies of the values, in the order of the keys; null for a key without a value.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)" path="/exception"/>
    public async ValueTask<byte[]?[]> GetManyAsync(IReadOnlyList<RedisArgument> keys, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(keys);
        byte[]?[] values = new byte[]?[keys.Count];
        await Task.WhenAll((await SplitAsync(keys, cancellationToken).ConfigureAwait(false)).Select(async part =>
        {
            byte[]?[] found = await SendAsync(
                Parsers.ManyBytes, null, ["MGET", .. part.Select(at => keys[at])], 1, cancellationToken).ConfigureAwait(false);
            for (int i = 0; i < found.Length; i++)
            {
                values[part[i]] = found[i];
            }
        })).ConfigureAwait(false);
        return values;
    }

    private static void Check(ReadOnlySpan<RedisArgument> command)
    {
        if (command.IsEmpty)
        {
            throw new ArgumentException("A command has at least its name.", nameof(command));
        }
    }

    // Only a Cluster needs the position of the key. It is looked up until the client knows that the server is not part of a Cluster.
    private int KeyOf(ReadOnlySpan<RedisArgument> command) =>
        _cluster is null && _node?.Status is RedisStatus { IsCluster: false } ? -1 : CommandKeys.FirstKey(command);

    // Groups the positions of keys by command: all keys together, or one group for each slot of a Cluster.
    private async ValueTask<List<List<int>>> SplitAsync(IReadOnlyList<RedisArgument> keys, CancellationToken cancellationToken)
    {
        if (keys.Count == 0)
        {
            return [];
        }

        await ReachAsync(Environment.TickCount64 + _timeoutMs, cancellationToken).ConfigureAwait(false);
        return _cluster is null
            ? [[.. Enumerable.Range(0, keys.Count)]]
            : [.. Enumerable.Range(0, keys.Count).GroupBy(at => KeySlot.Of(keys[at])).Select(part => part.ToList())];
    }

    private async ValueTask PostWithCareAsync(RedisArgument[] command, RedisArgument? key, CancellationToken cancellationToken)
    {
        long deadlineMs = Environment.TickCount64 + _timeoutMs;
        ServerNode node = await NodeForAsync(key, deadlineMs, cancellationToken).ConfigureAwait(false);
        ServerConnection connection = await ConnectionOfAsync(node, deadlineMs, cancellationToken).ConfigureAwait(false);
        var turn = SendTurn.New;
        while (!connection.TrySend(new RespCommand(command), call: null, turn))
        {
            await WaitForRoomAsync(connection, deadlineMs, cancellationToken).ConfigureAwait(false);
            turn = SendTurn.Waited;
        }
    }
}
