using Cairn.Engine;
using Cairn.Server.Resp.Hashes;
using static Cairn.Server.Resp.Commands.FieldCommands;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands on sets, of which cache libraries use these: a tag is a set of keys. A member is a field without a value.</summary>
internal static class SetCommands
{
    private const CommandFlags Reads = CommandFlags.ReadOnly | CommandFlags.Fast;
    private const CommandFlags Writes = CommandFlags.Write | CommandFlags.Fast | CommandFlags.Rewrites;

    // Delegates that are created only once.
    private static readonly FieldsWriter s_scan = ScanOf(RespType.Set);
    private static readonly FieldsWriter s_members = TryWriteMembers;
    private static readonly FieldsWriter s_areMembers = SomeOf((bool isFound, ReadOnlySpan<byte> _, ref RespWriter writer) => writer.WriteInteger(isFound ? 1 : 0));

    public static CommandInfo[] All { get; } =
    [
        Make("sadd", -3, Writes | CommandFlags.DenyOom | CommandFlags.Lists, Add),
        Make("srem", -3, Writes | CommandFlags.Lists, (s, scoped in a, ref w) => Delete(s, a, RespType.Set, "srem"u8, ref w)),
        Make("scard", 2, Reads, (s, scoped in a, ref w) => Count(s, a, RespType.Set, ref w)),
        Make("sismember", 3, Reads, IsMember),
        Make("smismember", -3, Reads | CommandFlags.Lists, (s, scoped in a, ref w) => Reply(s, a, RespType.Set, s_areMembers, isOfSomeFields: true, ref w)),
        Make("smembers", 2, CommandFlags.ReadOnly | CommandFlags.RepliesValues, (s, scoped in a, ref w) => Reply(s, a, RespType.Set, s_members, ref w)),
        Make("sscan", -3, CommandFlags.ReadOnly, (s, scoped in a, ref w) => Scan(s, a, RespType.Set, s_scan, ref w)),
    ];

    private static CommandInfo Make(string name, int arity, CommandFlags flags, CommandHandler handler) => new()
    {
        Name = name, Arity = arity, Flags = flags, Group = "set", Handler = handler, FirstKey = 1, LastKey = 1, KeyStep = 1,
    };

    private static void Add(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!AreFewFields(arguments.Count - 2, ref writer))
        {
            return;
        }

        while (TryLoad(session, arguments[1], RespType.Set, out EntryInfo info, ref writer))
        {
            int added = 0;
            for (int i = 2; i < arguments.Count; i++)
            {
                added += session.Editor.Set(arguments[i], default) ? 1 : 0;
            }

            bool isStored = true;
            if (added == 0 || TrySave(session, arguments[1], RespType.Set, info, out isStored, ref writer))
            {
                Notify(session, arguments[1], RespType.Set, isStored && added > 0, "sadd"u8);
                if (isStored)
                {
                    writer.WriteInteger(added);
                }

                return;
            }
        }
    }

    private static void IsMember(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (IsOfType(entry, RespType.Set, ref writer))
        {
            var set = new HashView(entry.Bytes);
            session.CountWork(set.Count / FieldsOfElement);
            writer.WriteInteger(set.Find(arguments[2]) >= 0 ? 1 : 0);
        }
    }

    private static bool TryWriteMembers(
        RespSession session, HashView set, scoped in RespArguments arguments, bool mayPause, ref RespWriter writer)
    {
        if (session.ResumeAt <= BeforeReply)
        {
            writer.WriteSetHeader(set.Count);
        }

        for (int i = Math.Max(session.ResumeAt, FirstField); i - FirstField < set.Count; i++)
        {
            set.TryGet(i - FirstField, out ReadOnlySpan<byte> member, out _);
            if (MustPause(session, i, 1, member.Length, mayPause, ref writer))
            {
                return false;
            }

            writer.WriteBulk(member);
        }

        return true;
    }
}
