using Cairn.Server.Notifications;
using Cairn.Storage;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands about the expiration of keys.</summary>
internal static class ExpirationCommands
{
    private const CommandFlags Writes = CommandFlags.Write | CommandFlags.Fast;
    private const CommandFlags Reads = CommandFlags.ReadOnly | CommandFlags.Fast;

    public static CommandInfo[] All { get; } =
    [
        Make("expire", -3, Writes, (s, scoped in a, ref w) => Expire(s, a, "expire", isMilliseconds: false, isRelative: true, ref w)),
        Make("pexpire", -3, Writes, (s, scoped in a, ref w) => Expire(s, a, "pexpire", isMilliseconds: true, isRelative: true, ref w)),
        Make("expireat", -3, Writes, (s, scoped in a, ref w) => Expire(s, a, "expireat", isMilliseconds: false, isRelative: false, ref w)),
        Make("pexpireat", -3, Writes, (s, scoped in a, ref w) => Expire(s, a, "pexpireat", isMilliseconds: true, isRelative: false, ref w)),
        Make("ttl", 2, Reads, (s, scoped in a, ref w) => Remaining(s, a, isMilliseconds: false, isRelative: true, ref w)),
        Make("pttl", 2, Reads, (s, scoped in a, ref w) => Remaining(s, a, isMilliseconds: true, isRelative: true, ref w)),
        Make("expiretime", 2, Reads, (s, scoped in a, ref w) => Remaining(s, a, isMilliseconds: false, isRelative: false, ref w)),
        Make("pexpiretime", 2, Reads, (s, scoped in a, ref w) => Remaining(s, a, isMilliseconds: true, isRelative: false, ref w)),
        Make("persist", 2, Writes, Persist),
    ];

    [Flags]
    private enum Conditions
    {
        None = 0,
        IfNone = 1,
        IfAny = 2,
        IfLater = 4,
        IfEarlier = 8,
    }

    /// <summary>Reports the new expiration of a key. An expiration in the past has removed the key.</summary>
    public static void Notify(RespSession session, ReadOnlySpan<byte> key, in ResolvedExpiration expiration) =>
        session.Events.Notify(
            EventClasses.Generic, expiration.IsNever ? "persist"u8 : expiration.IsPast ? "del"u8 : "expire"u8, key);

    private static CommandInfo Make(string name, int arity, CommandFlags flags, CommandHandler handler) => new()
    {
        Name = name, Arity = arity, Flags = flags, Group = "generic", Handler = handler, FirstKey = 1, LastKey = 1, KeyStep = 1,
    };

    private static void Expire(
        RespSession session, scoped in RespArguments arguments, string name, bool isMilliseconds, bool isRelative, ref RespWriter writer)
    {
        KeySpace keys = session.Keys;
        if (!TryParseConditions(arguments, out Conditions conditions, ref writer))
        {
            return;
        }

        if (!Text.TryParse(arguments[2], out long time))
        {
            writer.WriteError(RespErrors.NotAnInteger);
            return;
        }

        long start = isRelative ? keys.NowMs : 0;
        if ((!isMilliseconds && time is > long.MaxValue / 1000 or < long.MinValue / 1000)
            || (isMilliseconds ? time : time * 1000) > long.MaxValue - start)
        {
            writer.WriteError(SetOptions.InvalidExpiration(name));
            return;
        }

        long moment = (isMilliseconds ? time : time * 1000) + start;
        while (true)
        {
            if (!keys.TryGetInfo(arguments[1], out EntryInfo info) || !IsMet(conditions, moment, info.DeadlineUnixMs))
            {
                writer.WriteInteger(0);
                return;
            }

            // An expiration in the past removes the key.
            ResolvedExpiration expiration = keys.At(moment);
            WriteStatus status = keys.Touch(arguments[1], expiration, info);
            if (status == WriteStatus.Stored)
            {
                Notify(session, arguments[1], expiration);
                writer.WriteInteger(1);
                return;
            }

            if (!KeySpace.IsOvertaken(status))
            {
                writer.WriteError(RespErrors.Of(status));
                return;
            }
        }
    }

    private static bool TryParseConditions(scoped in RespArguments arguments, out Conditions conditions, ref RespWriter writer)
    {
        conditions = Conditions.None;
        for (int i = 3; i < arguments.Count; i++)
        {
            Conditions condition = arguments.Is(i, "nx"u8) ? Conditions.IfNone
                : arguments.Is(i, "xx"u8) ? Conditions.IfAny
                : arguments.Is(i, "gt"u8) ? Conditions.IfLater
                : arguments.Is(i, "lt"u8) ? Conditions.IfEarlier
                : Conditions.None;
            if (condition == Conditions.None)
            {
                writer.WriteError(Text.Bytes($"ERR Unsupported option {Text.Latin(arguments[i]).TrimEnd('\r', '\n')}"));
                return false;
            }

            conditions |= condition;
        }

        if ((conditions & Conditions.IfNone) != 0 && conditions != Conditions.IfNone)
        {
            writer.WriteError("ERR NX and XX, GT or LT options at the same time are not compatible"u8);
            return false;
        }

        if ((conditions & Conditions.IfLater) != 0 && (conditions & Conditions.IfEarlier) != 0)
        {
            writer.WriteError("ERR GT and LT options at the same time are not compatible"u8);
            return false;
        }

        return true;
    }

    private static bool IsMet(Conditions conditions, long moment, long deadline)
    {
        bool hasDeadline = deadline != long.MaxValue;
        return !((conditions & Conditions.IfNone) != 0 && hasDeadline)
            && !((conditions & Conditions.IfAny) != 0 && !hasDeadline)
            && !((conditions & Conditions.IfLater) != 0 && (!hasDeadline || moment <= deadline))
            && !((conditions & Conditions.IfEarlier) != 0 && hasDeadline && moment >= deadline);
    }

    private static void Remaining(
        RespSession session, scoped in RespArguments arguments, bool isMilliseconds, bool isRelative, ref RespWriter writer)
    {
        if (!session.Keys.TryGetInfo(arguments[1], out EntryInfo info))
        {
            writer.WriteInteger(-2);
        }
        else if (info.DeadlineUnixMs == long.MaxValue)
        {
            writer.WriteInteger(-1);
        }
        else
        {
            long time = isRelative ? Math.Max(0, info.DeadlineUnixMs - session.Keys.NowMs) : info.DeadlineUnixMs;
            writer.WriteInteger(isMilliseconds ? time : (time / 1000) + (time % 1000 >= 500 ? 1 : 0));
        }
    }

    private static void Persist(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        while (true)
        {
            if (!session.Keys.TryGetInfo(arguments[1], out EntryInfo info) || info.DeadlineUnixMs == long.MaxValue)
            {
                writer.WriteInteger(0);
                return;
            }

            WriteStatus status = session.Keys.Touch(arguments[1], ResolvedExpiration.Never, info);
            if (status == WriteStatus.Stored)
            {
                Notify(session, arguments[1], ResolvedExpiration.Never);
                writer.WriteInteger(1);
                return;
            }

            if (!KeySpace.IsOvertaken(status))
            {
                writer.WriteError(RespErrors.Of(status));
                return;
            }
        }
    }
}
