namespace Cairn.Redis.Cluster;

/// <summary>Finds the first key of a command, which decides the node in a Cluster.</summary>
internal static class CommandKeys
{
    private static readonly string[] s_keyless =
    [
        "PING", "ECHO", "INFO", "TIME", "DBSIZE", "FLUSHDB", "FLUSHALL", "KEYS", "SCAN", "RANDOMKEY", "CONFIG", "CLIENT", "CLUSTER", "COMMAND",
        "PUBLISH", "PUBSUB", "SCRIPT", "SLOWLOG", "LATENCY", "WAIT", "MULTI", "EXEC", "DISCARD", "UNWATCH", "ACL", "HELLO", "ROLE", "LASTSAVE",
        "FUNCTION", "MODULE", "ASKING", "READONLY", "READWRITE", "DEBUG", "BGSAVE", "SAVE", "SWAPDB",
    ];

    private static readonly string[] s_counted = ["EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO"];

    private static readonly string[] s_after = ["OBJECT", "MEMORY", "XGROUP", "XINFO", "BITOP"];

    /// <summary>Returns the position of the first key; -1 if the command has none.</summary>
    public static int FirstKey(ReadOnlySpan<RedisArgument> command)
    {
        if (command.Length < 2 || IsOneOf(command[0], s_keyless))
        {
            return -1;
        }

        if (IsOneOf(command[0], s_counted))
        {
            return command.Length > 3 && command[2].TryGetNumber(out long keys) && keys > 0 ? 3 : -1;
        }

        int at = IsOneOf(command[0], s_after) ? 2 : 1;
        return at < command.Length ? at : -1;
    }

    private static bool IsOneOf(in RedisArgument word, string[] words)
    {
        foreach (string other in words)
        {
            if (word.Is(other))
            {
                return true;
            }
        }

        return false;
    }
}
