using Cairn.Clients.Connections;

namespace Cairn.Redis.Resp;

/// <summary>The exceptions of a <c>RedisClient</c>.</summary>
internal sealed class RedisErrors : ClientErrors
{
    public override Exception NoConnection(string message, Exception? cause, bool mayHaveExecuted = false) =>
        new RedisConnectionException(message, cause) { MayHaveExecuted = mayHaveExecuted };

    public override Exception NoReply(string message) => new RedisTimeoutException(message);
}
