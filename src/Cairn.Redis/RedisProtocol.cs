namespace Cairn.Redis;

/// <summary>The version of the Redis protocol that a client uses.</summary>
public enum RedisProtocol
{
    /// <summary>RESP3 if the server supports it, otherwise RESP2.</summary>
    Automatic = 0,

    /// <summary>RESP2, even if the server supports RESP3. Invalidation then uses a second connection, because RESP2 has no pushes.</summary>
    Resp2 = 2,

    /// <summary>RESP3. A server without it is an error.</summary>
    Resp3 = 3,
}
