using Cairn.Caching.Records;
using Cairn.Clients.Caches;
using Cairn.Protocol;
using Cairn.Redis.Cluster;
using Cairn.Redis.Resp;

namespace Cairn.Redis.Entries;

// The two layouts of an entry.
//
//   Microsoft's  KEY                   hash: absexp, sldexp, data
//   plain        KEY                   string: the value; for a value of a hybrid cache, the part after the envelope's fields
//                cairn-head:{KEY}      string: absexp 8 | sldexp 8 | the part of the value before that; missing if there is nothing to keep
//
//   I1  Both keys of a plain entry are written, removed and given their expiration in one step, and read in one step.
//   I2  A value is the head's part and the string, joined. A string of another program has an old head or none. A hybrid cache detects both: its
//       envelope has a checksum over both parts.
internal sealed class EntryLayout(bool isPlain)
{
    public const string LeasePrefix = "cairn-lease:";
    public const string HeadPrefix = "cairn-head:";

    private const int TimesBytes = 16;

    public static EntryLayout Microsofts { get; } = new(isPlain: false);

    public static EntryLayout Plain { get; } = new(isPlain: true);

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

    /// <summary>Parses the reply to MGET of head and value. Writes the joined value to the buffer writer that is the state.</summary>
    public static readonly ReplyParser<EntryHead> ReadPlainInto = static (ref RespReplyReader reply, object? target) =>
    {
        reply.Read();
        ReadOnlySpan<byte> head = reply.Value;
        return reply.Read() && !reply.IsNull ? Join(head, reply.Value, (IBufferWriter<byte>)target!) : default;
    };

    /// <summary>Parses the reply to MGET of head and value. Returns a copy of the joined value.</summary>
    public static readonly ReplyParser<(EntryHead Head, byte[]? Data)> ReadPlain = static (ref RespReplyReader reply, object? _) =>
    {
        reply.Read();
        ReadOnlySpan<byte> head = reply.Value;
        return reply.Read() && !reply.IsNull ? Join(head, reply.Value) : default;
    };

    /// <summary>Parses the reply to MGET of a head.</summary>
    public static readonly ReplyParser<EntryHead> ReadPlainHead = static (ref RespReplyReader reply, object? _) =>
        reply.Read() ? TimesOf(reply.Value) : default;

    public bool IsPlain => isPlain;

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

    /// <summary>Returns the key of a plain entry's head. It belongs to the same slot of a Cluster.</summary>
    public static string HeadKey(string key) => HashSlot.Companion(HeadPrefix, key);

    /// <summary>Returns whether a key of the server belongs to an entry with another key.</summary>
    public static bool IsCompanion(string serverKey) =>
        serverKey.StartsWith(LeasePrefix, StringComparison.Ordinal) || serverKey.StartsWith(HeadPrefix, StringComparison.Ordinal);

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

    /// <summary>Returns the commands of one transaction that store an entry and end its lease.</summary>
    public RedisArgument[][] Store(string key, in RedisArgument value, EntryTimes times)
    {
        string leaseKey = LeaseKey(key);
        if (!isPlain)
        {
            return
            [
                ["HSET", key, "absexp", times.AbsoluteTicks, "sldexp", times.SlidingTicks, "data", value],
                times.LifeMs is { } life ? ["PEXPIRE", key, life] : ["PERSIST", key],
                ["UNLINK", leaseKey],
            ];
        }

        ReadOnlyMemory<byte> bytes = value.ToMemory();
        int headBytes = DistributedRecords.HeadBytes(bytes.Span);
        string headKey = HeadKey(key);
        if (headBytes == 0 && times.SlidingTicks <= 0)
        {
            return [SetPlain(key, bytes, times.LifeMs), ["UNLINK", leaseKey, headKey]];
        }

        byte[] head = new byte[TimesBytes + headBytes];
        BinaryPrimitives.WriteInt64LittleEndian(head, times.AbsoluteTicks);
        BinaryPrimitives.WriteInt64LittleEndian(head.AsSpan(8), times.SlidingTicks);
        bytes.Span[..headBytes].CopyTo(head.AsSpan(TimesBytes));
        return [SetPlain(key, bytes[headBytes..], times.LifeMs), SetPlain(headKey, head, times.LifeMs), ["UNLINK", leaseKey]];
    }

    /// <summary>Returns the commands of one transaction that change the time after which the server removes an entry.</summary>
    public RedisArgument[][] Expire(string key, long lifeMs) => isPlain
        ? [["PEXPIRE", key, lifeMs], ["PEXPIRE", HeadKey(key), lifeMs]]
        : [["PEXPIRE", key, lifeMs]];

    /// <summary>Returns the command that removes an entry's companions: the lease and, of a plain entry, the head.</summary>
    public RedisArgument[] RemoveCompanions(string key) => isPlain ? ["UNLINK", LeaseKey(key), HeadKey(key)] : ["UNLINK", LeaseKey(key)];

    /// <summary>Joins the parts of a plain entry.</summary>
    public static EntryHead Join(ReadOnlySpan<byte> head, ReadOnlySpan<byte> value, IBufferWriter<byte> target)
    {
        if (head.Length > TimesBytes)
        {
            target.Write(head[TimesBytes..]);
        }

        target.Write(value);
        return TimesOf(head) with { IsFound = true };
    }

    /// <inheritdoc cref="Join(ReadOnlySpan{byte}, ReadOnlySpan{byte}, IBufferWriter{byte})"/>
    public static (EntryHead Head, byte[] Data) Join(ReadOnlySpan<byte> head, ReadOnlySpan<byte> value) =>
        (TimesOf(head) with { IsFound = true }, [.. head.Length > TimesBytes ? head[TimesBytes..] : default, .. value]);

    /// <summary>Returns the expiration that a plain entry's head has; none if there is no head.</summary>
    public static EntryHead TimesOf(ReadOnlySpan<byte> head) => head.Length < TimesBytes
        ? new EntryHead(false, -1, -1)
        : new EntryHead(false, BinaryPrimitives.ReadInt64LittleEndian(head), BinaryPrimitives.ReadInt64LittleEndian(head[8..]));

    private static RedisArgument[] SetPlain(string key, ReadOnlyMemory<byte> value, long? lifeMs) =>
        lifeMs is { } life ? ["SET", key, value, "PX", life] : ["SET", key, value];

    private static EntryHead ReadTimes(ref RespReplyReader reply)
    {
        long absolute = reply.Read() && reply.TryGetInt64(out long ticks) ? ticks : -1;
        long sliding = reply.Read() && reply.TryGetInt64(out ticks) ? ticks : -1;
        return new EntryHead(false, absolute, sliding);
    }
}
