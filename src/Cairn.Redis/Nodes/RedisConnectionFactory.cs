using Cairn.Clients.Connections;
using Cairn.Clients.Nodes;
using Cairn.Redis.Resp;

namespace Cairn.Redis.Nodes;

/// <summary>Establishes connections to Redis servers: authentication, protocol version and database.</summary>
/// <param name="options">The options of the client.</param>
/// <param name="owner">The client's type.</param>
internal sealed class RedisConnectionFactory(RedisClientOptions options, Type owner) : ConnectionFactory(OptionsOf(options, owner))
{
    private readonly string _clientName = options.ClientName ?? NameOfMachine();

    /// <summary>Returns the part of the options that concerns connections.</summary>
    public static ConnectionOptions OptionsOf(RedisClientOptions options, Type owner) => new()
    {
        Owner = owner,
        Errors = new RedisErrors(),
        ConnectTimeout = options.ConnectTimeout,
        SilenceLimit = options.SilenceLimit,
        MinReconnectDelay = options.MinReconnectDelay,
        MaxReconnectDelay = options.MaxReconnectDelay,
        MaxPendingCalls = options.MaxPendingCalls,
        MaxUnsentBytes = options.MaxUnsentBytes,
        UseTls = options.UseTls,
        TlsHost = options.TlsHost,
        TlsAuthorityPath = options.TlsAuthorityPath,
        TlsCertificate = options.TlsCertificate,
    };

    protected override WireFormat NewFormat() => new RespFormat();

    protected override async Task<NodeStatus> LogInAsync(ServerConnection connection, CancellationToken cancellationToken)
    {
        RedisStatus? status = options.Protocol == RedisProtocol.Resp2
            ? null
            : await SayHelloAsync(connection, cancellationToken).ConfigureAwait(false);
        if (status is null)
        {
            if (options.Protocol == RedisProtocol.Resp3)
            {
                throw new RedisException("the server has no RESP3, and the configuration asks for it.");
            }

            if (options.Password is { } password)
            {
                await AskAsync(options.User is { } user ? ["AUTH", user, password] : ["AUTH", password]).ConfigureAwait(false);
            }

            status = StatusOf(await TryAskAsync("INFO").ConfigureAwait(false));
        }

        if (options.Database > 0)
        {
            await AskAsync("SELECT", options.Database).ConfigureAwait(false);
        }

        // These names only appear in CLIENT LIST, so an error is ignored.
        await TryAskAsync("CLIENT", "SETNAME", _clientName).ConfigureAwait(false);
        await TryAskAsync("CLIENT", "SETINFO", "LIB-NAME", "Cairn").ConfigureAwait(false);
        return status;

        ValueTask<RedisReply> AskAsync(params RedisArgument[] command) => connection.AskAsync(command, LongestRequest, cancellationToken);

        async ValueTask<RedisReply?> TryAskAsync(params RedisArgument[] command)
        {
            try
            {
                return await connection.AskAsync(command, LongestRequest, cancellationToken).ConfigureAwait(false);
            }
            catch (RedisServerException refusal) when (refusal.Code is not "NOAUTH")
            {
                return null;
            }
        }
    }

    // Returns null if the server has no HELLO command, or does not support RESP3.
    private async Task<RedisStatus?> SayHelloAsync(ServerConnection connection, CancellationToken cancellationToken)
    {
        RedisArgument[] hello = options.Password is { } password ? ["HELLO", 3, "AUTH", options.User ?? "default", password] : ["HELLO", 3];
        try
        {
            RedisReply reply = await connection.AskAsync(hello, LongestRequest, cancellationToken).ConfigureAwait(false);
            var told = new Dictionary<string, string>(StringComparer.Ordinal);
            for (int i = 0; i + 1 < reply.Items.Count; i += 2)
            {
                if (reply.Items[i].Text is { } name && reply.Items[i + 1].Text is { } value)
                {
                    told[name] = value;
                }
            }

            return new RedisStatus(
                IsResp3: true,
                IsCluster: string.Equals(told.GetValueOrDefault("mode"), "cluster", StringComparison.Ordinal),
                IsReplica: told.GetValueOrDefault("role") is "replica" or "slave",
                told.GetValueOrDefault("version", ""));
        }
        catch (RedisServerException refusal) when (refusal.Code is "ERR" or "NOPROTO")
        {
            return null;
        }
    }

    private static RedisStatus StatusOf(RedisReply? info)
    {
        var told = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (string line in (info?.Text ?? "").Split('\n', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
        {
            int colon = line.IndexOf(':', StringComparison.Ordinal);
            if (colon > 0)
            {
                told[line[..colon]] = line[(colon + 1)..];
            }
        }

        return new RedisStatus(
            IsResp3: false,
            IsCluster: told.GetValueOrDefault("cluster_enabled") is "1",
            IsReplica: told.GetValueOrDefault("role") is "slave" or "replica",
            told.GetValueOrDefault("redis_version", ""));
    }

    protected override string ReasonOf(Exception failure) => failure switch
    {
        RedisServerException { Code: "NOAUTH" } => "it asks for a password, and the configuration has none.",
        RedisServerException { Code: "WRONGPASS" } => "wrong user or password.",
        _ => base.ReasonOf(failure),
    };

    private static string NameOfMachine()
    {
        string name = new([.. Environment.MachineName.Where(letter => letter is > ' ' and <= '~')]);
        return name.Length > 0 ? name : "cairn";
    }
}
