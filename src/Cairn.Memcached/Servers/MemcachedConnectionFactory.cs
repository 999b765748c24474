using Cairn.Clients.Connections;
using Cairn.Clients.Nodes;
using Cairn.Protocol;

namespace Cairn.Memcached.Servers;

/// <summary>Establishes connections to memcached servers.</summary>
/// <param name="options">The options of the cache.</param>
/// <param name="owner">The cache's type.</param>
internal sealed class MemcachedConnectionFactory(CairnMemcachedOptions options, Type owner)
    : ConnectionFactory(new ConnectionOptions { Owner = owner, Errors = new MemcachedErrors(), ConnectTimeout = options.ConnectTimeout })
{
    protected override WireFormat NewFormat() => new MemcachedFormat();

    protected override async Task<NodeStatus> LogInAsync(ServerConnection connection, CancellationToken cancellationToken)
    {
        if (options.Password is { } password)
        {
            MemcachedAnswer answer = await AskAsync(
                connection,
                (ref MemcachedRequestWriter writer) => writer.WriteStore(
                    MemcachedCommand.Set, "auth"u8, System.Text.Encoding.UTF8.GetBytes($"{options.User} {password}")),
                cancellationToken).ConfigureAwait(false);
            if (answer.Kind != MemcachedReplyKind.Stored)
            {
                throw new MemcachedException("wrong user or password.");
            }
        }

        MemcachedAnswer noop = await AskAsync(
            connection, static (ref MemcachedRequestWriter writer) => writer.WriteMetaNoop(), cancellationToken).ConfigureAwait(false);
        if (noop.Kind == MemcachedReplyKind.ClientError)
        {
            throw new MemcachedException("it asks for a user and password, and the options have none.");
        }

        return new MemcachedNodeStatus(HasMeta: noop.Kind == MemcachedReplyKind.Meta);
    }

    private static ValueTask<MemcachedAnswer> AskAsync(ServerConnection connection, RequestWriter write, CancellationToken cancellationToken)
    {
        MemcachedCall call = MemcachedCall.Rent(destination: null, connection, LongestRequest);
        connection.TrySend(new MemcachedRequests(write, replies: 1), call, SendTurn.Own);
        call.CancelWith(cancellationToken);
        return call.Task;
    }
}
