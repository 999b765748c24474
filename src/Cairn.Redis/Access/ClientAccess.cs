using Cairn.Redis.Entries;
using Cairn.Redis.Invalidation;
using Cairn.Redis.Resp;

namespace Cairn.Redis.Access;

/// <summary>Sends the requests of a cache through a <see cref="RedisClient"/>.</summary>
internal sealed class ClientAccess(RedisClient client, bool isClientOwned) : IRedisAccess
{
    private readonly GuardConnections _guards = new(client);

    public RedisClient Client => client;

    // Collection expressions as arguments are spans on the stack, so the commands are not methods of the layout.
    public ValueTask<EntryHead> ReadAsync(EntryLayout layout, string key, IBufferWriter<byte> destination, CancellationToken cancellationToken) => layout.IsPlain
        ? client.SendAsync(EntryLayout.ReadPlainInto, destination, ["MGET", EntryLayout.HeadKey(key), key], 1, cancellationToken)
        : client.SendAsync(EntryLayout.ReadInto, destination, ["HMGET", key, "absexp", "sldexp", "data"], 1, cancellationToken);

    public ValueTask<(EntryHead Head, byte[]? Data)> ReadAsync(EntryLayout layout, string key, CancellationToken cancellationToken) => layout.IsPlain
        ? client.SendAsync(EntryLayout.ReadPlain, null, ["MGET", EntryLayout.HeadKey(key), key], 1, cancellationToken)
        : client.SendAsync(EntryLayout.Read, null, ["HMGET", key, "absexp", "sldexp", "data"], 1, cancellationToken);

    public ValueTask<EntryHead> ReadHeadAsync(EntryLayout layout, string key, CancellationToken cancellationToken) => layout.IsPlain
        ? client.SendAsync(EntryLayout.ReadPlainHead, null, ["MGET", EntryLayout.HeadKey(key)], 1, cancellationToken)
        : client.SendAsync(EntryLayout.ReadHead, null, ["HMGET", key, "absexp", "sldexp"], 1, cancellationToken);

    public ValueTask<long> NumberAsync(ReadOnlySpan<RedisArgument> command, int keyIndex, CancellationToken cancellationToken) =>
        client.SendAsync(Parsers.Number, null, command, keyIndex, cancellationToken);

    public ValueTask<RedisReply[]?> TransactAsync(RedisArgument[][] commands, string key, CancellationToken cancellationToken) =>
        client.SendManyAsync(Parsers.Transaction, null, [["MULTI"], .. commands, ["EXEC"]], key, cancellationToken);

    public ValueTask<bool> TryTransactAsync(string key, string text, RedisArgument[][] commands, CancellationToken cancellationToken) =>
        _guards.TryChangeAsync(key, text, commands, cancellationToken);

    public IAsyncEnumerable<string> ScanAsync(string pattern, CancellationToken cancellationToken) => client.ScanAsync(pattern, cancellationToken);

    public ValueTask<TimeSpan> PingAsync(CancellationToken cancellationToken) => client.PingAsync(cancellationToken);

    public async ValueTask<ChannelMode> FindModeAsync(RedisInvalidationMode demanded, CancellationToken cancellationToken)
    {
        if (demanded == RedisInvalidationMode.PublishSubscribe)
        {
            return ChannelMode.PublishSubscribe;
        }

        try
        {
            // Garnet, and Redis before version 6.2, do not have this command.
            await client.ExecuteAsync(["CLIENT", "TRACKINGINFO"], cancellationToken).ConfigureAwait(false);
            return client.GetHealth().Servers.Any(server => server.ProtocolVersion == 2) ? ChannelMode.RedirectedTracking : ChannelMode.Tracking;
        }
        catch (RedisServerException refusal) when (demanded == RedisInvalidationMode.Automatic && refusal.Code != "LOADING")
        {
            return ChannelMode.PublishSubscribe;
        }
    }

    public IChangeSource CreateChanges(string channel, Func<CancellationToken, ValueTask<ChannelMode>> modeOf) => new ServerChanges(client, channel, modeOf);

    public void FlushHeldBack() => client.FlushHeldBack();

    public async ValueTask DisposeAsync()
    {
        await _guards.DisposeAsync().ConfigureAwait(false);
        if (isClientOwned)
        {
            await client.DisposeAsync().ConfigureAwait(false);
        }
    }
}
