using Cairn.Engine;
using Cairn.Server.Resp.Hashes;
using static Cairn.Server.Resp.Commands.FieldCommands;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands on sorted sets, of which cache libraries use these: a tag is a set of keys by the time of their expiration.</summary>
internal static class SortedSetCommands
{
    private const CommandFlags Reads = CommandFlags.ReadOnly | CommandFlags.Fast;
    private const CommandFlags ReadsAll = CommandFlags.ReadOnly | CommandFlags.RepliesValues;
    private const CommandFlags Removes = CommandFlags.Write | CommandFlags.Rewrites;
    private const CommandFlags Writes = Removes | CommandFlags.Fast;

    // Delegates that are created only once.
    private static readonly FieldsWriter s_scan = ScanOf(RespType.SortedSet);
    private static readonly FieldsWriter s_scores = SomeOf(
        (bool isFound, ReadOnlySpan<byte> value, ref RespWriter writer) => WriteDoubleOrNull(isFound ? SortedSetRange.ScoreOf(value) : null, ref writer));
    private static readonly FieldsWriter s_range = TryWriteRange;

    [Flags]
    private enum AddOptions
    {
        None = 0,
        IfAbsent = 1,
        IfPresent = 1 << 1,
        IfGreater = 1 << 2,
        IfLess = 1 << 3,
        CountsChanges = 1 << 4,
        Increments = 1 << 5,
    }

    public static CommandInfo[] All { get; } =
    [
        Make("zadd", -4, Writes | CommandFlags.DenyOom | CommandFlags.Lists, (s, scoped in a, ref w) => Add(s, a, AddOptions.None, ref w)),
        Make("zincrby", 4, Writes | CommandFlags.DenyOom, (s, scoped in a, ref w) => Add(s, a, AddOptions.Increments, ref w)),
        Make("zrem", -3, Writes | CommandFlags.Lists, (s, scoped in a, ref w) => Delete(s, a, RespType.SortedSet, "zrem"u8, ref w)),
        Make("zremrangebyrank", 4, Removes, (s, scoped in a, ref w) => RemoveRange(s, a, isByScore: false, ref w)),
        Make("zremrangebyscore", 4, Removes, (s, scoped in a, ref w) => RemoveRange(s, a, isByScore: true, ref w)),
        Make("zcard", 2, Reads, (s, scoped in a, ref w) => Count(s, a, RespType.SortedSet, ref w)),
        Make("zcount", 4, Reads, CountRange),
        Make("zscore", 3, Reads, Score),
        Make("zmscore", -3, Reads | CommandFlags.Lists, (s, scoped in a, ref w) => Reply(s, a, RespType.SortedSet, s_scores, isOfSomeFields: true, ref w)),
        Make("zrank", 3, Reads, (s, scoped in a, ref w) => Rank(s, a, isReversed: false, ref w)),
        Make("zrevrank", 3, Reads, (s, scoped in a, ref w) => Rank(s, a, isReversed: true, ref w)),
        Make("zrange", -4, ReadsAll, Range),
        Make("zrevrange", -4, ReadsAll, Range),
        Make("zrangebyscore", -4, ReadsAll, Range),
        Make("zrevrangebyscore", -4, ReadsAll, Range),
        Make("zscan", -3, CommandFlags.ReadOnly, (s, scoped in a, ref w) => Scan(s, a, RespType.SortedSet, s_scan, ref w)),
    ];

    private static CommandInfo Make(string name, int arity, CommandFlags flags, CommandHandler handler) => new()
    {
        Name = name, Arity = arity, Flags = flags, Group = "sorted-set", Handler = handler, FirstKey = 1, LastKey = 1, KeyStep = 1,
    };

    // Redis reads the options of ZADD in ZINCRBY, too.
    private static void Add(RespSession session, scoped in RespArguments arguments, AddOptions options, ref RespWriter writer)
    {
        int first = 2;
        for (; first < arguments.Count; first++)
        {
            AddOptions option = arguments.Is(first, "nx"u8) ? AddOptions.IfAbsent
                : arguments.Is(first, "xx"u8) ? AddOptions.IfPresent
                : arguments.Is(first, "gt"u8) ? AddOptions.IfGreater
                : arguments.Is(first, "lt"u8) ? AddOptions.IfLess
                : arguments.Is(first, "ch"u8) ? AddOptions.CountsChanges
                : arguments.Is(first, "incr"u8) ? AddOptions.Increments
                : AddOptions.None;
            if (option == AddOptions.None)
            {
                break;
            }

            options |= option;
        }

        int count = arguments.Count - first;
        if (count % 2 != 0 || count == 0)
        {
            writer.WriteError(RespErrors.Syntax);
        }
        else if ((options & (AddOptions.IfAbsent | AddOptions.IfPresent)) == (AddOptions.IfAbsent | AddOptions.IfPresent))
        {
            writer.WriteError("ERR XX and NX options at the same time are not compatible"u8);
        }
        else if (System.Numerics.BitOperations.PopCount((uint)(options & (AddOptions.IfAbsent | AddOptions.IfGreater | AddOptions.IfLess))) > 1)
        {
            writer.WriteError("ERR GT, LT, and/or NX options at the same time are not compatible"u8);
        }
        else if ((options & AddOptions.Increments) != 0 && count > 2)
        {
            writer.WriteError("ERR INCR option supports a single increment-element pair"u8);
        }
        else
        {
            Add(session, arguments, first, options, ref writer);
        }
    }

    // Adds the pairs of score and member that begin at an argument.
    private static void Add(RespSession session, scoped in RespArguments arguments, int first, AddOptions options, ref RespWriter writer)
    {
        if (!AreFewFields((arguments.Count - first) / 2, ref writer))
        {
            return;
        }

        for (int i = first; i < arguments.Count; i += 2)
        {
            if (!SortedSetRange.TryParseScore(arguments[i], out _))
            {
                writer.WriteError(RespErrors.NotAFloat);
                return;
            }
        }

        Span<byte> bytes = stackalloc byte[SortedSetRange.ScoreBytes];
        while (TryLoad(session, arguments[1], RespType.SortedSet, out EntryInfo info, ref writer))
        {
            int added = 0;
            int changed = 0;
            double? score = null;
            for (int i = first; i < arguments.Count; i += 2)
            {
                bool isFound = session.Editor.TryGet(arguments[i + 1], out ReadOnlySpan<byte> value);
                double old = SortedSetRange.ScoreOf(value);
                score = SortedSetRange.TryParseScore(arguments[i], out double given) ? ScoreToSet(isFound, old, given, options) : null;
                if (score is { } number && double.IsNaN(number))
                {
                    writer.WriteError("ERR resulting score is not a number (NaN)"u8);
                    return;
                }

                if (score is { } stored && !(isFound && stored == old))
                {
                    BinaryPrimitives.WriteDoubleLittleEndian(bytes, stored);
                    session.Editor.Set(arguments[i + 1], bytes);
                    added += isFound ? 0 : 1;
                    changed++;
                }
            }

            bool isStored = true;
            bool isIncrement = (options & AddOptions.Increments) != 0;
            if (changed == 0 || TrySave(session, arguments[1], RespType.SortedSet, info, out isStored, ref writer))
            {
                Notify(session, arguments[1], RespType.SortedSet, isStored && changed > 0, isIncrement ? "zincr"u8 : "zadd"u8);
                if (isStored && isIncrement)
                {
                    WriteDoubleOrNull(score, ref writer);
                }
                else if (isStored)
                {
                    writer.WriteInteger((options & AddOptions.CountsChanges) != 0 ? changed : added);
                }

                return;
            }
        }
    }

    // Returns the score that a member gets; null if its options forbid it. A zero has no sign, as in a short sorted set of Redis.
    private static double? ScoreToSet(bool isFound, double old, double given, AddOptions options)
    {
        if ((options & (isFound ? AddOptions.IfAbsent : AddOptions.IfPresent)) != 0)
        {
            return null;
        }

        double score = (isFound && (options & AddOptions.Increments) != 0 ? old + given : given) + 0.0;
        bool isRefused = isFound
            && (((options & AddOptions.IfGreater) != 0 && score <= old) || ((options & AddOptions.IfLess) != 0 && score >= old));
        return isRefused ? null : score;
    }

    private static void RemoveRange(RespSession session, scoped in RespArguments arguments, bool isByScore, ref RespWriter writer)
    {
        var range = new SortedSetRange { IsByScore = isByScore, Limit = -1 };
        if (!TryReadLimits(ref range, arguments[2], arguments[3], ref writer))
        {
            return;
        }

        while (true)
        {
            EntryInfo info;
            int removed;
            using (PinnedEntry entry = session.Keys.Pin(arguments[1]))
            {
                if (!IsOfType(entry, RespType.SortedSet, ref writer))
                {
                    return;
                }

                info = entry.Info;
                var set = new HashView(entry.Bytes);
                (int first, removed) = range.In(set);
                if (removed == 0)
                {
                    writer.WriteInteger(0);
                    return;
                }

                Load(session, RespType.SortedSet, set);
                session.Editor.RemoveRange(first, removed);
            }

            if (TrySave(session, arguments[1], RespType.SortedSet, info, out bool isStored, ref writer))
            {
                if (isStored)
                {
                    NotifyRemoval(session, arguments[1], RespType.SortedSet, isByScore ? "zremrangebyscore"u8 : "zremrangebyrank"u8);
                    writer.WriteInteger(removed);
                }

                return;
            }
        }
    }

    private static void CountRange(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        var range = new SortedSetRange { IsByScore = true, Limit = -1 };
        if (!TryReadLimits(ref range, arguments[2], arguments[3], ref writer))
        {
            return;
        }

        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (IsOfType(entry, RespType.SortedSet, ref writer))
        {
            writer.WriteInteger(range.In(new HashView(entry.Bytes)).Count);
        }
    }

    private static void Score(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (IsOfType(entry, RespType.SortedSet, ref writer))
        {
            var set = new HashView(entry.Bytes);
            session.CountWork(set.Count / FieldsOfElement);
            WriteDoubleOrNull(ScoreIn(set, arguments[2]), ref writer);
        }
    }

    private static void Rank(RespSession session, scoped in RespArguments arguments, bool isReversed, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (!IsOfType(entry, RespType.SortedSet, ref writer))
        {
            return;
        }

        var set = new HashView(entry.Bytes);
        session.CountWork(set.Count / FieldsOfElement);
        int rank = set.Find(arguments[2]);
        if (rank < 0)
        {
            writer.WriteNull();
        }
        else
        {
            writer.WriteInteger(isReversed ? set.Count - 1 - rank : rank);
        }
    }

    private static double? ScoreIn(HashView set, ReadOnlySpan<byte> member) =>
        set.TryGet(member, out ReadOnlySpan<byte> value) ? SortedSetRange.ScoreOf(value) : null;

    private static void WriteDoubleOrNull(double? number, ref RespWriter writer)
    {
        if (number is { } value)
        {
            writer.WriteDouble(value);
        }
        else
        {
            writer.WriteNull();
        }
    }

    private static void Range(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (TryReadRange(arguments, out _, out _, ref writer))
        {
            Reply(session, arguments, RespType.SortedSet, s_range, ref writer);
        }
    }

    // The names of the older commands say what the options of ZRANGE say.
    private static bool TryReadRange(scoped in RespArguments arguments, out SortedSetRange range, out bool hasScores, ref RespWriter writer)
    {
        bool hasOptions = arguments.Is(0, "zrange"u8);
        range = new SortedSetRange
        {
            IsByScore = arguments.Is(0, "zrangebyscore"u8) || arguments.Is(0, "zrevrangebyscore"u8),
            IsReversed = arguments.Is(0, "zrevrange"u8) || arguments.Is(0, "zrevrangebyscore"u8),
            Limit = -1,
        };
        hasScores = false;
        for (int i = 4; i < arguments.Count; i++)
        {
            if (arguments.Is(i, "withscores"u8))
            {
                hasScores = true;
            }
            else if (arguments.Is(i, "limit"u8) && i + 2 < arguments.Count)
            {
                if (!Text.TryParse(arguments[i + 1], out long offset) || !Text.TryParse(arguments[i + 2], out long limit))
                {
                    writer.WriteError(RespErrors.NotAnInteger);
                    return false;
                }

                (range.Offset, range.Limit) = (offset, limit);
                i += 2;
            }
            else if (hasOptions && !range.IsReversed && arguments.Is(i, "rev"u8))
            {
                range.IsReversed = true;
            }
            else if (hasOptions && !range.IsByScore && arguments.Is(i, "byscore"u8))
            {
                range.IsByScore = true;
            }
            else
            {
                writer.WriteError(hasOptions && arguments.Is(i, "bylex"u8) ? "ERR ZRANGE with BYLEX is not supported"u8 : RespErrors.Syntax);
                return false;
            }
        }

        if (!range.IsByScore && range.Limit != -1)
        {
            writer.WriteError("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"u8);
            return false;
        }

        range.Offset = range.IsByScore ? range.Offset : 0;
        bool isSwapped = range is { IsByScore: true, IsReversed: true };
        return TryReadLimits(ref range, arguments[isSwapped ? 3 : 2], arguments[isSwapped ? 2 : 3], ref writer);
    }

    private static bool TryReadLimits(ref SortedSetRange range, ReadOnlySpan<byte> from, ReadOnlySpan<byte> to, ref RespWriter writer)
    {
        if (range.IsByScore ? range.TryParseScores(from, to) : range.TryParseRanks(from, to))
        {
            return true;
        }

        writer.WriteError(range.IsByScore ? "ERR min or max is not a float"u8 : RespErrors.NotAnInteger);
        return false;
    }

    private static bool TryWriteRange(
        RespSession session, HashView set, scoped in RespArguments arguments, bool mayPause, ref RespWriter writer)
    {
        TryReadRange(arguments, out SortedSetRange range, out bool hasScores, ref writer); // It was right before.
        (int first, int count) = range.In(set);
        if (session.ResumeAt <= BeforeReply)
        {
            writer.WriteArrayHeader(hasScores && !writer.IsResp3 ? 2 * count : count);
        }

        for (int i = Math.Max(session.ResumeAt, FirstField); i - FirstField < count; i++)
        {
            int index = i - FirstField;
            set.TryGet(range.IsReversed ? first - index : first + index, out ReadOnlySpan<byte> member, out ReadOnlySpan<byte> value);
            if (MustPause(session, i, 1, member.Length, mayPause, ref writer))
            {
                return false;
            }

            if (hasScores && writer.IsResp3)
            {
                writer.WriteArrayHeader(2);
            }

            writer.WriteBulk(member);
            if (hasScores)
            {
                writer.WriteDouble(SortedSetRange.ScoreOf(value));
            }
        }

        return true;
    }
}
