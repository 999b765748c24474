using Cairn.Protocol;
using Cairn.Redis.Cluster;
using Cairn.Redis.Resp;

namespace Cairn.Redis.Entries;

/// <summary>
/// The layout of entries: hashes with the fields absexp, sldexp and data, as in Microsoft's RedisCache, so that each library reads the other's
/// entries.
/// </summary>
internal static class EntryLayout
{
    public const string LeasePrefix = "cairn-lease:";

    /// <summary>Parses the reply to HMGET absexp sldexp data. Writes the data to the buffer writer that is the state.</summary>
    public static readonly ReplyParser<EntryHead> ReadInto = static (ref RespReplyReader reply, object? target) =>
    {
        EntryHead head = ReadTimes(ref reply);
        if (!reply.Read() || reply.IsNull)
        {
            return default;
        }

        ((IBufferWriter<byte>)target!).Write(reply.Value);
        return head with { IsFound = true };
    };

    /// <summary>Parses the reply to HMGET absexp sldexp data. Returns a copy of the data.</summary>
    public static readonly ReplyParser<(EntryHead Head, byte[]? Data)> Read = static (ref RespReplyReader reply, object? _) =>
    {
        EntryHead head = ReadTimes(ref reply);
        return !reply.Read() || reply.IsNull ? default : (head with { IsFound = true }, reply.Value.ToArray());
    };

    /// <summary>Parses the reply to HMGET absexp sldexp.</summary>
    public static readonly ReplyParser<EntryHead> ReadHead = static (ref RespReplyReader reply, object? _) => ReadTimes(ref reply);

    /// <summary>Returns the glob pattern of the keys that begin with a text.</summary>
    public static string PatternOf(string prefix)
    {
        var pattern = new StringBuilder(prefix.Length + 1);
        foreach (char character in prefix)
        {
            pattern.Append(character is '*' or '?' or '[' or ']' or '\\' or '^' or '-' ? "\\" : string.Empty).Append(character);
        }

        return pattern.Append('*').ToString();
    }

    /// <summary>Returns the key of an entry's lease. It belongs to the same slot of a Cluster.</summary>
    public static string LeaseKey(string key) => HashSlot.Companion(LeasePrefix, key);

    /// <summary>
    /// Returns the command that publishes a change. The message is the sender, 16 bytes, and the key without the instance name in UTF-8.
    /// </summary>
    public static RedisArgument[] Publication(string channel, Guid sender, string key)
    {
        byte[] message = new byte[16 + Encoding.UTF8.GetByteCount(key)];
        sender.TryWriteBytes(message);
        Encoding.UTF8.GetBytes(key, message.AsSpan(16));
        return ["PUBLISH", RedisArgument.ForChannel(channel), message];
    }

    private static EntryHead ReadTimes(ref RespReplyReader reply)
    {
        long absolute = reply.Read() && reply.TryGetInt64(out long ticks) ? ticks : -1;
        long sliding = reply.Read() && reply.TryGetInt64(out ticks) ? ticks : -1;
        return new EntryHead(false, absolute, sliding);
    }
}
