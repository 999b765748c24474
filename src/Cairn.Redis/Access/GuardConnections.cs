// For servers without scripts: changes that are made only if a key holds an owner's text. WATCH applies to a connection, and any EXEC on
// that connection ends it. So these changes use a separate connection to each server, one change at a time.
using Cairn.Clients.Connections;
using Cairn.Clients.Nodes;
using Cairn.Redis.Resp;

namespace Cairn.Redis.Access;

internal sealed class GuardConnections(RedisClient client) : IAsyncDisposable
{
    private readonly SemaphoreSlim _turn = new(1, 1);

    // The separate connection to each server, and how many connections for other commands the server had had when this one was last used.
    private readonly Dictionary<string, (ServerNode Node, int Connections)> _nodes = new(StringComparer.Ordinal);

    /// <summary>Makes the changes in one transaction if the key holds the text.</summary>
    /// <returns>False if the key holds another text; nothing has changed then.</returns>
    public async ValueTask<bool> TryChangeAsync(RedisArgument key, string text, RedisArgument[][] changes, CancellationToken cancellationToken)
    {
        long deadlineMs = Environment.TickCount64 + (long)client.Options.OperationTimeout.TotalMilliseconds;
        if (!await _turn.WaitAsync(client.Options.OperationTimeout, cancellationToken).ConfigureAwait(false))
        {
            throw new RedisTimeoutException("Other changes that depend on a lease took all of the time-out.");
        }

        try
        {
            ServerNode of = await client.NodeForAsync(key, deadlineMs, cancellationToken).ConfigureAwait(false);
            if (!_nodes.TryGetValue(of.Name, out (ServerNode Node, int Connections) guard))
            {
                guard = (client.MakeSideNode(of, onPush: null), of.Connections);
            }
            else if (guard.Connections != of.Connections)
            {
                // The cause that broke the client's connection may have broken this one, too. If it was idle, a request would find that only after its time-out.
                guard.Node.Current?.Close(new RedisConnectionException("The connection is older than the one for other commands."));
                guard.Connections = of.Connections;
            }

            _nodes[of.Name] = guard;
            ServerConnection connection = await client.ConnectionOfAsync(guard.Node, deadlineMs, cancellationToken).ConfigureAwait(false);
            try
            {
                RedisReply held = await AskAsync(connection, Parsers.Reply, [["WATCH", key], ["GET", key]], cancellationToken).ConfigureAwait(false);
                if (!string.Equals(held.Text, text, StringComparison.Ordinal))
                {
                    await AskAsync(connection, Parsers.Reply, [["UNWATCH"]], cancellationToken).ConfigureAwait(false);
                    return false;
                }

                RedisReply[]? replies = await AskAsync(
                    connection, Parsers.Transaction, [["MULTI"], .. changes, ["EXEC"]], cancellationToken).ConfigureAwait(false);
                return replies is not null;
            }
            catch (Exception failure) when (failure is not RedisServerException)
            {
                // The set of watched keys is unknown after a failure, so the connection cannot be used again.
                connection.Close(failure);
                throw;
            }
        }
        finally
        {
            _turn.Release();
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach ((ServerNode node, _) in _nodes.Values)
        {
            await node.DisposeAsync().ConfigureAwait(false);
        }

        _turn.Dispose();
    }

    private async ValueTask<T> AskAsync<T>(ServerConnection connection, ReplyParser<T> parser, RedisArgument[][] commands, CancellationToken cancellationToken)
    {
        RespCall<T> call = RespCall<T>.Rent(
            parser, null, connection.Completions, Environment.TickCount64, (long)client.Options.OperationTimeout.TotalMilliseconds);
        try
        {
            connection.TrySend(new RespCommands(commands), call, SendTurn.Own);
        }
        catch
        {
            call.Abandon();
            throw;
        }

        call.CancelWith(cancellationToken);
        return await call.Task.ConfigureAwait(false);
    }
}
