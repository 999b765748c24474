using Cairn.Protocol;

namespace Cairn.Redis.Resp;

/// <summary>Parsers of replies. They are fields, because a method group would allocate a delegate for each call.</summary>
internal static class Parsers
{
    public static readonly ReplyParser<RedisReply> Reply = static (ref RespReplyReader reply, object? _) => RedisReply.Read(ref reply);

    /// <summary>Returns a copy of the bytes; null for a null reply.</summary>
    public static readonly ReplyParser<byte[]?> Bytes = static (ref RespReplyReader reply, object? _) => reply.IsNull ? null : reply.Value.ToArray();

    /// <summary>Writes the bytes to the buffer writer that is the state. Returns false for a null reply.</summary>
    public static readonly ReplyParser<bool> Into = static (ref RespReplyReader reply, object? target) =>
    {
        if (reply.IsNull)
        {
            return false;
        }

        ((IBufferWriter<byte>)target!).Write(reply.Value);
        return true;
    };

    public static readonly ReplyParser<long> Number = static (ref RespReplyReader reply, object? _) =>
        reply.TryGetInt64(out long number) ? number : ThrowUnexpected<long>("a whole number", reply.Type);

    /// <summary>Returns whether the reply is not null. A null reply means that a condition did not hold.</summary>
    public static readonly ReplyParser<bool> NotNull = static (ref RespReplyReader reply, object? _) => !reply.IsNull;

    /// <summary>
    /// Returns the replies of a transaction's commands; null if the server aborted it. Throws if one of the replies is an error.
    /// </summary>
    public static readonly ReplyParser<RedisReply[]?> Transaction = static (ref RespReplyReader reply, object? _) =>
    {
        if (reply.IsNull)
        {
            return null;
        }

        RedisReply whole = RedisReply.Read(ref reply);
        return whole.Items.FirstOrDefault(item => item.Type == RedisReplyType.Error) is { } error
            ? throw new RedisServerException(error.Text!)
            : [.. whole.Items];
    };

    public static readonly ReplyParser<byte[]?[]> ManyBytes = static (ref RespReplyReader reply, object? _) =>
    {
        byte[]?[] values = new byte[]?[reply.Count];
        for (int i = 0; i < values.Length && reply.Read(); i++)
        {
            values[i] = reply.IsNull ? null : reply.Value.ToArray();
        }

        return values;
    };

    [DoesNotReturn]
    private static T ThrowUnexpected<T>(string expected, RespType type) =>
        throw new RedisException($"The server replied with {type} where {expected} was expected.");
}
