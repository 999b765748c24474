using Cairn.Clients.Connections;

namespace Cairn.Redis.Resp;

/// <summary>What the client itself asks over a connection that speaks RESP.</summary>
internal static class RespConnection
{
    /// <summary>Sends a command of the client itself, which needs no room, and returns the reply.</summary>
    public static async ValueTask<RedisReply> AskAsync(
        this ServerConnection connection, RedisArgument[] command, TimeSpan timeout, CancellationToken cancellationToken = default)
    {
        RespCall<RedisReply> call = RespCall<RedisReply>.Rent(
            Parsers.Reply, null, connection.Completions, Environment.TickCount64, (long)timeout.TotalMilliseconds);
        connection.TrySend(new RespCommand(command), call, SendTurn.Own);
        call.CancelWith(cancellationToken);
        return await call.Task.ConfigureAwait(false);
    }

    /// <summary>Switches the connection to a RESP2 subscriber. After that, only subscriptions and PING may be sent.</summary>
    public static void BecomeSubscriber(this ServerConnection connection) => ((RespFormat)connection.Format).IsSubscriber = true;
}
