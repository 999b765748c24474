using Cairn.Engine;
using Cairn.Server.Notifications;
using Cairn.Server.Resp.Hashes;
using Cairn.Storage;

namespace Cairn.Server.Resp.Commands;

/// <summary>The scripts of cache libraries.</summary>
internal static class CacheScripts
{
    // A number, or the longest error of a command that counts.
    private const int LongestSum = 1024;

    /// <summary>Creates the handler of Laravel's script, which sets KEYS[1] to ARGV[1] for the time ARGV[2] if the key does not exist.</summary>
    public static ScriptHandler Add(bool isMilliseconds) => (RespSession session, scoped in ScriptCall call, ref RespWriter writer) =>
    {
        KeySpace keys = session.Keys;
        if (keys.TryGetInfo(call.Key(1), out _))
        {
            writer.WriteNull(); // As Lua's false.
        }
        else if (!Text.TryParse(call.Argument(2), out long time))
        {
            writer.WriteError(RespErrors.NotAnInteger);
        }
        else if (!SetOptions.TryResolve(time, isMilliseconds, isRelative: true, keys.NowMs, out long moment))
        {
            writer.WriteError(SetOptions.InvalidExpiration(isMilliseconds ? "psetex" : "setex"));
        }
        else
        {
            ResolvedExpiration expiration = keys.At(moment);
            WriteStatus status = keys.Write(call.Key(1), EntryType.Value, call.Argument(1), expiration);
            StringCommands.NotifyIfStored(session, call.Key(1), status, expiration);
            StringCommands.WriteStored(status, ref writer);
        }
    };

    /// <summary>Creates the handler of the scripts by which django-redis adds ARGV[1] to the number at KEYS[1].</summary>
    public static ScriptHandler Increment(bool createsKey) => (RespSession session, scoped in ScriptCall call, ref RespWriter writer) =>
    {
        if (createsKey || session.Keys.TryGetInfo(call.Key(1), out _))
        {
            CounterCommands.IncrBy(session, call.Key(1), call.Argument(1), ref writer);
        }
        else
        {
            writer.WriteNull(); // As Lua's false.
        }
    };

    /// <summary>Adds ARGV[1] to the number at KEYS[1], as rate-limiter-flexible does. A number that does not exist or does not expire, expires after
    /// ARGV[2] seconds. Replies with the sum and the remaining milliseconds.</summary>
    public static void CountInWindow(RespSession session, scoped in ScriptCall call, ref RespWriter writer)
    {
        KeySpace keys = session.Keys;
        ReadOnlySpan<byte> key = call.Key(1);
        if (!Text.TryParse(call.Argument(2), out long seconds))
        {
            writer.WriteError(RespErrors.NotAnInteger);
            return;
        }

        if (!SetOptions.TryResolve(seconds, isMilliseconds: false, isRelative: true, keys.NowMs, out long moment))
        {
            writer.WriteError(SetOptions.InvalidExpiration("set"));
            return;
        }

        ResolvedExpiration expiration = keys.At(moment);
        WriteStatus status = WriteStatus.Stored;
        if (!keys.TryGetInfo(key, out _))
        {
            status = keys.Write(key, EntryType.Value, "0"u8, expiration);
            StringCommands.NotifyIfStored(session, key, status, expiration);
        }

        Span<byte> sum = stackalloc byte[LongestSum];
        var counted = new RespWriter(sum, session.IsResp3);
        CounterCommands.IncrBy(session, key, call.Argument(1), ref counted);
        if (counted.ErrorCount > 0)
        {
            writer.WriteError(sum[1..(counted.PendingBytes - 2)]);
            return;
        }

        if (status == WriteStatus.Stored && keys.TryGetInfo(key, out EntryInfo info) && info.DeadlineUnixMs == long.MaxValue)
        {
            status = keys.Touch(key, expiration, info);
            if (status == WriteStatus.Stored)
            {
                ExpirationCommands.Notify(session, key, expiration);
            }
        }

        if (status != WriteStatus.Stored)
        {
            writer.WriteError(RespErrors.Of(status));
            return;
        }

        writer.WriteArrayHeader(2);
        writer.WriteRaw(sum[..counted.PendingBytes]);
        writer.WriteInteger(keys.TryGetInfo(key, out info) ? Math.Max(0, info.DeadlineUnixMs - keys.NowMs) : -2);
    }

    /// <summary>Sets an entry of Microsoft's IDistributedCache for Redis, as its versions before 9 do: sets the fields absexp, sldexp and
    /// data of the hash KEYS[1] to ARGV[1], ARGV[2] and ARGV[4]. Unless ARGV[3] is -1, the hash expires after ARGV[3] seconds.</summary>
    public static void SetEntry(RespSession session, scoped in ScriptCall call, ref RespWriter writer)
    {
        if (!Text.TryParse(call.Argument(3), out long seconds) || seconds > (long.MaxValue / 1000) - session.Keys.NowMs || seconds < long.MinValue / 1000)
        {
            writer.WriteError(RespErrors.NotAnInteger);
            return;
        }

        KeySpace keys = session.Keys;
        ReadOnlySpan<byte> key = call.Key(1);
        EntryInfo old;
        using (PinnedEntry entry = keys.Pin(key))
        {
            old = entry.Info;
            if (entry.IsFound && RespTypes.Of(old) != RespType.Hash)
            {
                writer.WriteError(RespErrors.WrongType);
                return;
            }

            session.Editor.Load(new HashView(entry.Bytes));
        }

        session.Editor.Set("absexp"u8, call.Argument(1));
        session.Editor.Set("sldexp"u8, call.Argument(2));
        session.Editor.Set("data"u8, call.Argument(4));
        if (!session.Editor.TryEncode(out ReadOnlySpan<byte> encoded))
        {
            writer.WriteError(FieldCommands.TooLong);
            return;
        }

        // One write, so no reader sees the fields without the expiration.
        ResolvedExpiration expiration = seconds == -1 ? keys.SameAs(old) : keys.At(keys.NowMs + (seconds * 1000));
        WriteStatus status = keys.Write(key, EntryType.Hash, encoded, expiration);
        if (status != WriteStatus.Stored)
        {
            writer.WriteError(RespErrors.Of(status));
            return;
        }

        session.Events.Notify(EventClasses.Hashes, "hset"u8, key);
        if (seconds != -1)
        {
            ExpirationCommands.Notify(session, key, expiration);
        }

        writer.WriteInteger(1);
    }
}
