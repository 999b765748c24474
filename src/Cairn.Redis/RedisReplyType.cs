namespace Cairn.Redis;

/// <summary>What a reply is.</summary>
public enum RedisReplyType
{
    /// <summary>Nothing: the key does not exist, or a condition did not hold.</summary>
    Null = 0,

    /// <summary>Bytes, or a short text such as <c>OK</c>.</summary>
    Text,

    /// <summary>A whole number, or a truth value as 1 or 0.</summary>
    Integer,

    /// <summary>A floating-point number; its text is what was sent.</summary>
    Double,

    /// <summary>Other replies in a row: an array or a set; of a map, keys and values in turn.</summary>
    Array,

    /// <summary>An error within an array. A reply that is an error itself is thrown as <see cref="RedisServerException"/>.</summary>
    Error,
}
