using Cairn.Protocol;
using Cairn.Redis.Connections;
using Cairn.Redis.Nodes;

namespace Cairn.Redis.Memcached;

/// <summary>Establishes connections to memcached servers.</summary>
internal sealed class MemcachedConnectionFactory(RedisClientOptions options) : ConnectionFactory(options)
{
    private readonly RedisClientOptions _options = options;

    protected override WireFormat NewFormat() => new MemcachedFormat();

    // The status has no RESP version here: IsResp3 means that the server has meta commands.
    protected override async Task<NodeStatus> LogInAsync(ServerConnection connection, CancellationToken cancellationToken)
    {
        if (_options.Password is { } password)
        {
            MemcachedAnswer answer = await AskAsync(
                connection,
                (ref MemcachedRequestWriter writer) => writer.WriteStore(
                    MemcachedCommand.Set, "auth"u8, System.Text.Encoding.UTF8.GetBytes($"{_options.User} {password}")),
                cancellationToken).ConfigureAwait(false);
            if (answer.Kind != MemcachedReplyKind.Stored)
            {
                throw new RedisException("wrong user or password.");
            }
        }

        MemcachedAnswer noop = await AskAsync(
            connection, static (ref MemcachedRequestWriter writer) => writer.WriteMetaNoop(), cancellationToken).ConfigureAwait(false);
        if (noop.Kind == MemcachedReplyKind.ClientError)
        {
            throw new RedisException("it asks for a user and password, and the options have none.");
        }

        return new NodeStatus(IsResp3: noop.Kind == MemcachedReplyKind.Meta, IsCluster: false, IsReplica: false, "");
    }

    private ValueTask<MemcachedAnswer> AskAsync(ServerConnection connection, RequestWriter write, CancellationToken cancellationToken)
    {
        ReplyCall<MemcachedAnswer> call = ReplyCall<MemcachedAnswer>.RentWritten(
            MemcachedAnswer.Parser, null, connection.Completions, Environment.TickCount64, (long)_options.ConnectTimeout.TotalMilliseconds);
        var buffer = new System.Buffers.ArrayBufferWriter<byte>();
        var writer = new MemcachedRequestWriter(buffer);
        write(ref writer);
        writer.Flush();
        connection.TrySendWritten(buffer.WrittenSpan, replies: 1, call, SendTurn.Own);
        call.CancelWith(cancellationToken);
        return call.Task;
    }
}
