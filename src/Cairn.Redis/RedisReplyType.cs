namespace Cairn.Redis;

/// <summary>The type of a reply.</summary>
public enum RedisReplyType
{
    /// <summary>A null reply: the key does not exist, or a condition did not hold.</summary>
    Null = 0,

    /// <summary>Bytes, or a short text such as <c>OK</c>.</summary>
    Text,

    /// <summary>An integer, or a Boolean as 1 or 0.</summary>
    Integer,

    /// <summary>A floating-point number. Its text is the text that the server sent.</summary>
    Double,

    /// <summary>A list of replies: an array, a set, or a map as alternating keys and values.</summary>
    Array,

    /// <summary>An error inside an array. If the whole reply is an error, the call throws <see cref="RedisServerException"/> instead.</summary>
    Error,
}
