namespace Cairn.Redis;

/// <summary>Which server a <see cref="CairnRedisCache"/> keeps its entries on.</summary>
public sealed class CairnRedisOptions
{
    /// <summary>
    /// The server and how to connect, as StackExchange.Redis writes it: <c>host:port,password=...,ssl=true</c>. Default null: then
    /// <see cref="ClientOptions"/> or <see cref="Client"/> says it.
    /// </summary>
    public string? Configuration { get; set; }

    /// <summary>The same as an object, with all that the text cannot say. Default null.</summary>
    public RedisClientOptions? ClientOptions { get; set; }

    /// <summary>A client that exists already and stays the caller's. Default null: the cache has its own.</summary>
    public RedisClient? Client { get; set; }

    /// <summary>
    /// What all keys begin with on the server, as in Microsoft's RedisCache. Default empty. Applications that share a server have
    /// different names; processes that share entries have the same.
    /// </summary>
    public string InstanceName { get; set; } = "";

    /// <summary>How processes hear of each other's changes. Default: what the server can do best.</summary>
    public RedisInvalidationMode Invalidation { get; set; }

    internal RedisClient OpenClient(Microsoft.Extensions.Logging.ILogger? logger, out bool isOwned)
    {
        int given = (Configuration is null ? 0 : 1) + (ClientOptions is null ? 0 : 1) + (Client is null ? 0 : 1);
        if (given != 1)
        {
            throw new InvalidOperationException(
                $"Exactly one of {nameof(Configuration)}, {nameof(ClientOptions)} and {nameof(Client)} of {nameof(CairnRedisOptions)} has to be set; {given} are. "
                + "The first is a text such as 'localhost:6379'.");
        }

        if (InstanceName is null)
        {
            throw new InvalidOperationException($"{nameof(InstanceName)} is null; without a name it is empty.");
        }

        if (!Enum.IsDefined(Invalidation))
        {
            throw new InvalidOperationException($"{nameof(Invalidation)} is {Invalidation}, which is no way of invalidation.");
        }

        isOwned = Client is null;
        return Client ?? (ClientOptions is { } options ? RedisClient.Create(options, logger) : RedisClient.Create(Configuration!, logger));
    }
}
