using Cairn.Clients.Connections;

namespace Cairn.Memcached.Servers;

/// <summary>The exceptions of a <c>CairnMemcachedCache</c>.</summary>
internal sealed class MemcachedErrors : ClientErrors
{
    public override Exception NoConnection(string message, Exception? cause, bool mayHaveExecuted = false) =>
        new MemcachedException(message, cause) { IsUnreached = !mayHaveExecuted };

    public override Exception NoReply(string message) => new MemcachedException(message);
}
