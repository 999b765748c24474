using StackExchange.Redis;

namespace Cairn.Redis.StackExchange.Multiplexing;

/// <summary>Converts between the arguments, replies and exceptions of the two clients.</summary>
internal static class Translation
{
    /// <summary>Returns the words after the command's name.</summary>
    /// <param name="command">The words of the command.</param>
    /// <param name="keyIndex">The position of the key that selects the node of a Cluster; -1 for none.</param>
    public static object[] ArgumentsOf(ReadOnlySpan<RedisArgument> command, int keyIndex)
    {
        object[] arguments = new object[command.Length - 1];
        for (int i = 0; i < arguments.Length; i++)
        {
            ref readonly RedisArgument word = ref command[i + 1];
            arguments[i] = word.IsChannel ? RedisChannel.Literal(word.ToString())
                : i + 1 == keyIndex ? (RedisKey)word.ToString()
                : (RedisValue)word.ToMemory();
        }

        return arguments;
    }

    public static RedisReply ReplyOf(RedisResult result) => result.Resp2Type == ResultType.Array && !result.IsNull
        ? RedisReply.Of([.. ((RedisResult[])result!).Select(ReplyOf)])
        : RedisReply.Of(result.Resp2Type == ResultType.Integer ? RedisReplyType.Integer : RedisReplyType.Text, (byte[]?)result);

    /// <summary>Returns the exception that callers of a cache expect; null for one that is passed on as it is.</summary>
    public static RedisException? ExceptionOf(Exception failure) => failure switch
    {
        global::StackExchange.Redis.RedisServerException error => new RedisServerException(error.Message, error),
        global::StackExchange.Redis.RedisTimeoutException late => new RedisTimeoutException(late.Message, late),
        global::StackExchange.Redis.RedisConnectionException lost => new RedisConnectionException(lost.Message, lost) { MayHaveExecuted = true },
        global::StackExchange.Redis.RedisException or RedisCommandException => new RedisException(failure.Message, failure),
        TimeoutException => new RedisTimeoutException(failure.Message, failure),
        _ => null,
    };

    /// <summary>Returns the text of an argument that is ASCII.</summary>
    public static string NameOf(ReadOnlySpan<RedisArgument> command) => Encoding.ASCII.GetString(command[0].ToMemory().Span);
}
