using Cairn.Engine;
using Cairn.Server.Notifications;
using Cairn.Server.Resp.Hashes;
using static Cairn.Server.Resp.Commands.FieldCommands;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands on hashes.</summary>
internal static class HashCommands
{
    private const CommandFlags Reads = CommandFlags.ReadOnly | CommandFlags.Fast;
    private const CommandFlags ReadsAll = CommandFlags.ReadOnly | CommandFlags.RepliesValues;
    private const CommandFlags Writes = CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast | CommandFlags.Rewrites;

    // Delegates that are created only once.
    private static readonly FieldsWriter s_someFields = SomeOf(WriteBulkOrNull);
    private static readonly FieldsWriter s_scan = ScanOf(RespType.Hash);
    private static readonly FieldsWriter s_fieldsAndValues = (s, hash, scoped in _, mayPause, ref w) => TryWriteAll(s, hash, true, true, mayPause, ref w);
    private static readonly FieldsWriter s_fields = (s, hash, scoped in _, mayPause, ref w) => TryWriteAll(s, hash, true, false, mayPause, ref w);
    private static readonly FieldsWriter s_values = (s, hash, scoped in _, mayPause, ref w) => TryWriteAll(s, hash, false, true, mayPause, ref w);

    public static CommandInfo[] All { get; } =
    [
        Make("hset", -4, Writes | CommandFlags.Lists, (s, scoped in a, ref w) => Set(s, a, "hset", isOkReply: false, ref w)),
        Make("hmset", -4, Writes | CommandFlags.Lists, (s, scoped in a, ref w) => Set(s, a, "hmset", isOkReply: true, ref w)),
        Make("hsetnx", 4, Writes, SetNx),
        Make("hget", 3, Reads, Get),
        Make("hmget", -3, Reads | CommandFlags.Lists, (s, scoped in a, ref w) => Reply(s, a, RespType.Hash, s_someFields, isOfSomeFields: true, ref w)),
        Make("hgetall", 2, ReadsAll, (s, scoped in a, ref w) => Reply(s, a, RespType.Hash, s_fieldsAndValues, ref w)),
        Make("hkeys", 2, ReadsAll, (s, scoped in a, ref w) => Reply(s, a, RespType.Hash, s_fields, ref w)),
        Make("hvals", 2, ReadsAll, (s, scoped in a, ref w) => Reply(s, a, RespType.Hash, s_values, ref w)),
        Make("hdel", -3, CommandFlags.Write | CommandFlags.Fast | CommandFlags.Rewrites | CommandFlags.Lists, (s, scoped in a, ref w) => Delete(s, a, RespType.Hash, "hdel"u8, ref w)),
        Make("hexists", 3, Reads, Exists),
        Make("hlen", 2, Reads, (s, scoped in a, ref w) => Count(s, a, RespType.Hash, ref w)),
        Make("hstrlen", 3, Reads, StrLen),
        Make("hincrby", 4, Writes, IncrBy),
        Make("hincrbyfloat", 4, Writes, IncrByFloat),
        Make("hscan", -3, CommandFlags.ReadOnly, (s, scoped in a, ref w) => Scan(s, a, RespType.Hash, s_scan, ref w)),
    ];

    private static CommandInfo Make(string name, int arity, CommandFlags flags, CommandHandler handler) => new()
    {
        Name = name, Arity = arity, Flags = flags, Group = "hash", Handler = handler, FirstKey = 1, LastKey = 1, KeyStep = 1,
    };

    private static void Set(RespSession session, scoped in RespArguments arguments, string name, bool isOkReply, ref RespWriter writer)
    {
        if (arguments.Count % 2 != 0)
        {
            writer.WriteError(Text.Bytes($"ERR wrong number of arguments for '{name}' command"));
            return;
        }

        if (!AreFewFields((arguments.Count / 2) - 1, ref writer))
        {
            return;
        }

        while (TryLoad(session, arguments[1], RespType.Hash, out EntryInfo info, ref writer))
        {
            int added = 0;
            for (int i = 2; i < arguments.Count; i += 2)
            {
                added += session.Editor.Set(arguments[i], arguments[i + 1]) ? 1 : 0;
            }

            if (TrySave(session, arguments[1], RespType.Hash, info, out bool isStored, ref writer))
            {
                Notify(session, arguments[1], RespType.Hash, isStored, "hset"u8);
                if (isStored && isOkReply)
                {
                    writer.WriteOk();
                }
                else if (isStored)
                {
                    writer.WriteInteger(added);
                }

                return;
            }
        }
    }

    private static void SetNx(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        while (true)
        {
            using (PinnedEntry entry = session.Keys.Pin(arguments[1]))
            {
                if (!IsOfType(entry, RespType.Hash, ref writer))
                {
                    return;
                }

                if (new HashView(entry.Bytes).Find(arguments[2]) >= 0)
                {
                    writer.WriteInteger(0);
                    return;
                }
            }

            if (!TryLoad(session, arguments[1], RespType.Hash, out EntryInfo info, ref writer))
            {
                return;
            }

            if (session.Editor.Set(arguments[2], arguments[3])
                && TrySave(session, arguments[1], RespType.Hash, info, out bool isStored, ref writer))
            {
                Notify(session, arguments[1], RespType.Hash, isStored, "hset"u8);
                if (isStored)
                {
                    writer.WriteInteger(1);
                }

                return;
            }
        }
    }

    private static void Get(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (IsOfType(entry, RespType.Hash, ref writer))
        {
            var hash = new HashView(entry.Bytes);
            session.CountWork(hash.Count / FieldsOfElement);
            bool isFound = hash.TryGet(arguments[2], out ReadOnlySpan<byte> value);
            if (!session.MustAwaitMemory(value.Length, 1, ref writer))
            {
                WriteBulkOrNull(isFound, value, ref writer);
            }
        }
    }

    private static void WriteBulkOrNull(bool isFound, ReadOnlySpan<byte> value, ref RespWriter writer)
    {
        if (isFound)
        {
            writer.WriteBulk(value);
        }
        else
        {
            writer.WriteNull();
        }
    }

    private static bool TryWriteAll(
        RespSession session, HashView hash, bool hasFields, bool hasValues, bool mayPause, ref RespWriter writer)
    {
        if (session.ResumeAt <= BeforeReply && hasFields && hasValues)
        {
            writer.WriteMapHeader(hash.Count);
        }
        else if (session.ResumeAt <= BeforeReply)
        {
            writer.WriteArrayHeader(hash.Count);
        }

        for (int i = Math.Max(session.ResumeAt, FirstField); i - FirstField < hash.Count; i++)
        {
            hash.TryGet(i - FirstField, out ReadOnlySpan<byte> field, out ReadOnlySpan<byte> value);
            if (MustPause(session, i, 1, (long)field.Length + value.Length, mayPause, ref writer))
            {
                return false;
            }

            if (hasFields)
            {
                writer.WriteBulk(field);
            }

            if (hasValues)
            {
                writer.WriteBulk(value);
            }
        }

        return true;
    }

    private static void Exists(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (IsOfType(entry, RespType.Hash, ref writer))
        {
            var hash = new HashView(entry.Bytes);
            session.CountWork(hash.Count / FieldsOfElement);
            writer.WriteInteger(hash.Find(arguments[2]) >= 0 ? 1 : 0);
        }
    }

    private static void StrLen(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (IsOfType(entry, RespType.Hash, ref writer))
        {
            var hash = new HashView(entry.Bytes);
            session.CountWork(hash.Count / FieldsOfElement);
            writer.WriteInteger(hash.TryGet(arguments[2], out ReadOnlySpan<byte> value) ? value.Length : 0);
        }
    }

    private static void IncrBy(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!Text.TryParse(arguments[3], out long delta))
        {
            writer.WriteError(RespErrors.NotAnInteger);
            return;
        }

        Span<byte> text = stackalloc byte[DecimalText.MaxInt64Bytes];
        while (TryLoad(session, arguments[1], RespType.Hash, out EntryInfo info, ref writer))
        {
            long number = 0;
            if (session.Editor.TryGet(arguments[2], out ReadOnlySpan<byte> old) && !Text.TryParse(old, out number))
            {
                writer.WriteError("ERR hash value is not an integer"u8);
                return;
            }

            long sum = unchecked(number + delta);
            if (((number ^ sum) & (delta ^ sum)) < 0)
            {
                writer.WriteError(RespErrors.Overflow);
                return;
            }

            session.Editor.Set(arguments[2], text[..DecimalText.Format(sum, text)]);
            if (TrySave(session, arguments[1], RespType.Hash, info, out bool isStored, ref writer))
            {
                Notify(session, arguments[1], RespType.Hash, isStored, "hincrby"u8);
                if (isStored)
                {
                    writer.WriteInteger(sum);
                }

                return;
            }
        }
    }

    private static void IncrByFloat(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!ExtendedDouble.TryParse(arguments[3], out ExtendedDouble delta))
        {
            writer.WriteError(RespErrors.NotAFloat);
            return;
        }

        if (!delta.IsFinite)
        {
            writer.WriteError("ERR value is NaN or Infinity"u8);
            return;
        }

        while (TryLoad(session, arguments[1], RespType.Hash, out EntryInfo info, ref writer))
        {
            ExtendedDouble number = default;
            if (session.Editor.TryGet(arguments[2], out ReadOnlySpan<byte> old) && !ExtendedDouble.TryParse(old, out number))
            {
                writer.WriteError("ERR hash value is not a float"u8);
                return;
            }

            var sum = ExtendedDouble.Add(number, delta);
            if (!sum.IsFinite)
            {
                writer.WriteError(RespErrors.NotANumber);
                return;
            }

            byte[] text = Text.Format(sum);
            CounterCommands.CountSum(session, delta, text);
            session.Editor.Set(arguments[2], text);
            if (TrySave(session, arguments[1], RespType.Hash, info, out bool isStored, ref writer))
            {
                Notify(session, arguments[1], RespType.Hash, isStored, "hincrbyfloat"u8);
                if (isStored)
                {
                    writer.WriteBulk(text);
                }

                return;
            }
        }
    }
}
