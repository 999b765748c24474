namespace Cairn.Redis;

/// <summary>Which version of Redis' protocol a client speaks.</summary>
public enum RedisProtocol
{
    /// <summary>RESP3 where the server has it, otherwise RESP2.</summary>
    Automatic = 0,

    /// <summary>RESP2, also where the server has RESP3. Invalidation then goes by publish and subscribe.</summary>
    Resp2 = 2,

    /// <summary>RESP3; a server without it is an error.</summary>
    Resp3 = 3,
}
