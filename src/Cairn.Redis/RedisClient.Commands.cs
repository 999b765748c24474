using System.Buffers;
using Cairn.Protocol;
using Cairn.Redis.Cluster;
using Cairn.Redis.Connections;
using Cairn.Redis.Nodes;

namespace Cairn.Redis;

public sealed partial class RedisClient
{
    /// <summary>Executes any command that replies once and at once.</summary>
    /// <param name="command">Its words. In a Cluster its first key decides which node is asked; without a key any node is.</param>
    /// <param name="cancellationToken">Ends the wait; the server may execute the command all the same.</param>
    /// <returns>The reply, unless it is an error.</returns>
    /// <exception cref="RedisServerException">The server replied with an error.</exception>
    /// <exception cref="RedisConnectionException">There is no connection, or it was lost.</exception>
    /// <exception cref="RedisTimeoutException">The time-out passed.</exception>
    /// <remarks>
    /// All callers share a connection: commands that change it (<c>SELECT</c>, <c>SUBSCRIBE</c>, <c>MULTI</c>, <c>WATCH</c>, <c>MONITOR</c>, <c>CLIENT REPLY</c>)
    /// or block it (<c>BLPOP</c>) do harm. <see cref="ExecuteTransactionAsync"/> is for transactions.
    /// </remarks>
    public ValueTask<RedisReply> ExecuteAsync(ReadOnlySpan<RedisArgument> command, CancellationToken cancellationToken = default)
    {
        Check(command);
        return SendAsync(Parsers.Reply, null, command, KeyOf(command), cancellationToken);
    }

    /// <summary>Executes a command whose reply is bytes, and writes them to a buffer.</summary>
    /// <param name="command">Its words.</param>
    /// <param name="destination">Where to, from the thread that receives, before the call completes. Nothing is added if the result is false.</param>
    /// <param name="cancellationToken">Ends the wait. Nothing is written after the call has completed.</param>
    /// <returns>False if the reply is nothing.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)"/>
    public ValueTask<bool> ExecuteAsync(
        ReadOnlySpan<RedisArgument> command, IBufferWriter<byte> destination, CancellationToken cancellationToken = default)
    {
        Check(command);
        ArgumentNullException.ThrowIfNull(destination);
        return SendAsync(Parsers.Into, destination, command, KeyOf(command), cancellationToken);
    }

    /// <summary>Sends a command and forgets it: the reply is dropped, an error included.</summary>
    /// <param name="command">Its words.</param>
    /// <param name="cancellationToken">Ends the wait for a connection and for room.</param>
    /// <returns>Completes, at once as a rule, when the command is on its way. That it arrives is not certain.</returns>
    /// <exception cref="RedisConnectionException">There is no connection.</exception>
    public ValueTask PostAsync(ReadOnlySpan<RedisArgument> command, CancellationToken cancellationToken = default)
    {
        Check(command);
        if (_cluster is null && _node is { Status: { IsCluster: false }, Current: { IsOpen: true } connection } && !cancellationToken.IsCancellationRequested)
        {
            try
            {
                if (connection.TrySend(command, call: null))
                {
                    return default;
                }
            }
            catch (RedisConnectionException)
            {
                // It was lost this instant.
            }
        }

        int key = KeyOf(command);
        return PostWithCareAsync(command.ToArray(), key < 0 ? default(RedisArgument?) : command[key], cancellationToken);
    }

    /// <summary>Executes commands as one step (<c>MULTI</c> and <c>EXEC</c>).</summary>
    /// <param name="commands">In order. In a Cluster, all their keys have to be of one slot.</param>
    /// <param name="cancellationToken">Ends the wait; the server may execute them all the same.</param>
    /// <returns>Their replies, in order.</returns>
    /// <exception cref="RedisServerException">The server refused a command, and executed none; or one failed, and the others were executed.</exception>
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

    /// <summary>Asks the server for a sign of life.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>How long it took to reply; of a Cluster, the node that took longest.</returns>
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

    /// <summary>Reads a key's value (<c>GET</c>) into a buffer.</summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">Where to. Nothing is added if the result is false.</param>
    /// <param name="cancellationToken">Ends the wait. Nothing is written after the call has completed.</param>
    /// <returns>False if there is no value.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)" path="/exception"/>
    public ValueTask<bool> GetAsync(RedisArgument key, IBufferWriter<byte> destination, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(destination);
        return SendAsync(Parsers.Into, destination, ["GET", key], 1, cancellationToken);
    }

    /// <summary>Reads a key's value (<c>GET</c>).</summary>
    /// <param name="key">The key.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>A copy of the value; null if there is none.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)" path="/exception"/>
    public ValueTask<byte[]?> GetAsync(RedisArgument key, CancellationToken cancellationToken = default) =>
        SendAsync(Parsers.Bytes, null, ["GET", key], 1, cancellationToken);

    /// <summary>Sets a key's value (<c>SET</c>).</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="timeToLive">From now, at least a millisecond; null for no end.</param>
    /// <param name="condition">When it is set.</param>
    /// <param name="cancellationToken">Ends the wait; the value may be set all the same.</param>
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
    /// <param name="cancellationToken">Ends the wait; the key may be removed all the same.</param>
    /// <returns>True if it existed.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)" path="/exception"/>
    public async ValueTask<bool> DeleteAsync(RedisArgument key, CancellationToken cancellationToken = default) =>
        await SendAsync(Parsers.Number, null, ["DEL", key], 1, cancellationToken).ConfigureAwait(false) > 0;

    /// <summary>Removes keys (<c>DEL</c>), in a Cluster by one command for each slot.</summary>
    /// <param name="keys">The keys.</param>
    /// <param name="cancellationToken">Ends the wait; keys may be removed all the same.</param>
    /// <returns>How many of them existed.</returns>
    /// <inheritdoc cref="ExecuteAsync(ReadOnlySpan{RedisArgument}, CancellationToken)" path="/exception"/>
    public async ValueTask<long> DeleteAsync(IReadOnlyList<RedisArgument> keys, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(keys);
        long[] counts = await Task.WhenAll((await SplitAsync(keys, cancellationToken).ConfigureAwait(false)).Select(
            part => SendAsync(Parsers.Number, null, ["DEL", .. part.Select(at => keys[at])], 1, cancellationToken).AsTask())).ConfigureAwait(false);
        return counts.Sum();
    }

    /// <summary>Reads the values of keys (<c>MGET</c>), in a Cluster by one command for each slot.</summary>
    /// <param name="keys">The keys.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>Copies of the values, in the order of the keys; null where there is none.</returns>
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

    // Which key a command has matters in a Cluster only, and is looked up until it is known that there is none.
    private int KeyOf(ReadOnlySpan<RedisArgument> command) =>
        _cluster is null && _node?.Status is { IsCluster: false } ? -1 : CommandKeys.FirstKey(command);

    // The places of keys that one command can name: all of them, or those of one slot.
    private async ValueTask<List<List<int>>> SplitAsync(IReadOnlyList<RedisArgument> keys, CancellationToken cancellationToken)
    {
        if (keys.Count == 0)
        {
            return [];
        }

        await ReachAsync(Environment.TickCount64 + _timeoutMs, cancellationToken).ConfigureAwait(false);
        return _cluster is null
            ? [[.. Enumerable.Range(0, keys.Count)]]
            : [.. Enumerable.Range(0, keys.Count).GroupBy(at => HashSlot.Of(keys[at])).Select(part => part.ToList())];
    }

    private async ValueTask PostWithCareAsync(RedisArgument[] command, RedisArgument? key, CancellationToken cancellationToken)
    {
        long deadlineMs = Environment.TickCount64 + _timeoutMs;
        RedisNode node = await NodeForAsync(key, deadlineMs, cancellationToken).ConfigureAwait(false);
        ServerConnection connection = await ConnectionOfAsync(node, deadlineMs, cancellationToken).ConfigureAwait(false);
        var turn = SendTurn.New;
        while (!connection.TrySend(command, call: null, turn))
        {
            await WaitForRoomAsync(connection, deadlineMs, cancellationToken).ConfigureAwait(false);
            turn = SendTurn.Waited;
        }
    }
}
