using Cairn.Redis.Access;
using Microsoft.Extensions.Logging;

namespace Cairn.Redis;

/// <summary>The server and settings of a <see cref="CairnRedisCache"/>.</summary>
public sealed class CairnRedisOptions
{
    /// <summary>
    /// Gets or sets the server and the settings in the text format of StackExchange.Redis: <c>host:port,password=...,ssl=true</c>. Default null.
    /// Exactly one of this property, <see cref="ClientOptions"/> and <see cref="Client"/> must be set.
    /// </summary>
    public string? Configuration { get; set; }

    /// <summary>Gets or sets the same as an object, including settings that the text format does not have. Default null.</summary>
    public RedisClientOptions? ClientOptions { get; set; }

    /// <summary>Gets or sets an existing client, which the caller continues to own. Default null: the cache creates its own client.</summary>
    public RedisClient? Client { get; set; }

    /// <summary>
    /// Gets or sets the prefix of all keys on the server, as in Microsoft's RedisCache. Default empty. Applications that share a server use
    /// different names. Processes that share entries use the same name.
    /// </summary>
    public string InstanceName { get; set; } = "";

    /// <summary>Gets or sets how processes receive each other's changes. Default: the best mode that the server supports.</summary>
    public RedisInvalidationMode Invalidation { get; set; }

    /// <summary>
    /// Gets or sets whether values are stored as strings of the server, so that other programs can read them: <c>GET</c> returns the value as its
    /// serializer wrote it, uncompressed. Default false: entries have the layout of Microsoft's RedisCache, and values of a hybrid cache its envelope.
    /// </summary>
    /// <remarks>
    /// The other data of an entry is under a second key, which begins with <c>cairn-head:</c>. All processes that share an instance name use the same
    /// setting. Microsoft's RedisCache cannot read these entries.
    /// </remarks>
    public bool PlainValues { get; set; }

    /// <summary>Gets or sets the access through the client of another package.</summary>
    internal Func<IRedisAccess>? OtherAccess { get; set; }

    internal IRedisAccess OpenAccess(ILogger? logger)
    {
        int given = (Configuration is null ? 0 : 1) + (ClientOptions is null ? 0 : 1) + (Client is null ? 0 : 1) + (OtherAccess is null ? 0 : 1);
        if (given != 1)
        {
            throw new InvalidOperationException(OtherAccess is null
                ? $"Exactly one of {nameof(Configuration)}, {nameof(ClientOptions)} and {nameof(Client)} of {nameof(CairnRedisOptions)} has to be set; {given} are. "
                    + "The first is a text such as 'localhost:6379'."
                : $"The cache uses an IConnectionMultiplexer, so {nameof(Configuration)}, {nameof(ClientOptions)} and {nameof(Client)} of "
                    + $"{nameof(CairnRedisOptions)} must not be set.");
        }

        if (InstanceName is null)
        {
            throw new InvalidOperationException($"{nameof(InstanceName)} is null; without a name it is empty.");
        }

        if (!Enum.IsDefined(Invalidation))
        {
            throw new InvalidOperationException($"{nameof(Invalidation)} is {Invalidation}, which is no way of invalidation.");
        }

        if (OtherAccess is not null)
        {
            return Invalidation == RedisInvalidationMode.Tracking
                ? throw new InvalidOperationException(
                    $"{nameof(Invalidation)} is {nameof(RedisInvalidationMode.Tracking)}, which an IConnectionMultiplexer does not support.")
                : OtherAccess();
        }

        RedisClient client = Client ?? (ClientOptions is { } options ? RedisClient.Create(options, logger) : RedisClient.Create(Configuration!, logger));
        return new ClientAccess(client, isClientOwned: Client is null);
    }
}
