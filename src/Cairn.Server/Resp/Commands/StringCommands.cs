using Cairn.Engine;
using Cairn.Server.Notifications;
using Cairn.Storage;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands that read and write values and parts of values.</summary>
internal static class StringCommands
{
    private const CommandFlags Reads = CommandFlags.ReadOnly | CommandFlags.Fast;
    private const CommandFlags Writes = CommandFlags.Write | CommandFlags.DenyOom;

    // The bytes behind a value: its line end, and the difference between its header's length and the prediction.
    private const int SpareBytes = 10;

    // A header of nine digits, and the spare bytes.
    private const int FrameBytes = 32;

    public static CommandInfo[] All { get; } =
    [
        Make("get", 2, Reads | CommandFlags.RepliesValues, Get),
        Make("set", -3, Writes, Set),
        Make("setex", 4, Writes, SetEx),
        Make("psetex", 4, Writes, SetEx),
        Make("setnx", 3, Writes | CommandFlags.Fast, SetNx),
        Make("getset", 3, Writes | CommandFlags.Fast | CommandFlags.RepliesValues, GetSet),
        Make("getdel", 2, CommandFlags.Write | CommandFlags.Fast | CommandFlags.RepliesValues, GetDel),
        Make("getex", -2, CommandFlags.Write | CommandFlags.Fast | CommandFlags.RepliesValues, GetEx),
        Make("mget", -2, Reads | CommandFlags.RepliesValues | CommandFlags.InPieces, MGet, lastKey: -1),
        Make("mset", -3, Writes, MSet, lastKey: -1, keyStep: 2),
        Make("msetnx", -3, Writes, MSetNx, lastKey: -1, keyStep: 2),
        new CommandInfo
        {
            Name = "msetex", Arity = -4, Flags = Writes, Group = "string", Handler = MSetEx, FirstKey = 2, KeyStep = 2, HasKeyCount = true,
        },
        Make("delex", -2, CommandFlags.Write | CommandFlags.Fast, DelEx),
        Make("delifeq", 3, CommandFlags.Write | CommandFlags.Fast, DelIfEq),
        Make("digest", 2, Reads, Digest),
        Make("append", 3, Writes | CommandFlags.Fast | CommandFlags.Rewrites, Append),
        Make("strlen", 2, Reads, StrLen),
        Make("getrange", 4, CommandFlags.ReadOnly, GetRange),
        Make("substr", 4, CommandFlags.ReadOnly, GetRange),
        Make("setrange", 4, Writes | CommandFlags.Rewrites, SetRange),
    ];

    /// <summary>Copies a key's value, or null, directly from the store to the reply.</summary>
    /// <param name="session">The session that replies.</param>
    /// <param name="key">The key.</param>
    /// <param name="writer">The writer of the reply.</param>
    /// <param name="isHashNull">Whether a hash is written as null, instead of an error.</param>
    /// <param name="element">The element at which a reply of several elements continues if there is no memory for this one now.</param>
    /// <returns>False if the command must return, because there is no memory.</returns>
    public static bool WriteValue(
        RespSession session, ReadOnlySpan<byte> key, ref RespWriter writer, bool isHashNull = false, int element = 1)
    {
        int digits = session.LikelyLengthDigits;
        Span<byte> room = writer.Reserve(512);
        int length = session.Keys.TryGetPlain(key, room[(digits + 3)..^SpareBytes]);
        if (length == StoreEngine.Missing)
        {
            writer.WriteNull();
            return true;
        }

        if (length < 0)
        {
            while (true)
            {
                ReadOutcome outcome = session.Keys.TryGet(key, room[(digits + 3)..^SpareBytes], out EntryInfo info);
                if (outcome == ReadOutcome.Miss)
                {
                    writer.WriteNull();
                    return true;
                }

                if (info.Type == EntryType.Hash)
                {
                    if (isHashNull)
                    {
                        writer.WriteNull();
                    }
                    else
                    {
                        writer.WriteError(RespErrors.WrongType);
                    }

                    return true;
                }

                length = info.ValueBytes;
                if (outcome == ReadOutcome.Hit)
                {
                    break;
                }

                if (session.MustAwaitMemory(length, element, ref writer))
                {
                    return false;
                }

                digits = CountDigits(length);
                room = writer.Reserve(length + FrameBytes);
            }
        }

        int actualDigits = CountDigits(length);
        if (actualDigits != digits)
        {
            // The prediction was wrong. The value is moved once. The next value of such a length is at the right place at once.
            room.Slice(digits + 3, length).CopyTo(room[(actualDigits + 3)..]);
        }

        session.LikelyLengthDigits = actualDigits;
        room[0] = (byte)'$';
        DecimalText.Format(length, room[1..]);
        room[actualDigits + 1] = (byte)'\r';
        room[actualDigits + 2] = (byte)'\n';
        int end = actualDigits + 3 + length;
        room[end] = (byte)'\r';
        room[end + 1] = (byte)'\n';
        writer.Advance(end + 2);
        return true;
    }

    private static CommandInfo Make(
        string name, int arity, CommandFlags flags, CommandHandler handler, int lastKey = 1, int keyStep = 1) =>
        new()
        {
            Name = name, Arity = arity, Flags = flags, Group = "string", Handler = handler,
            FirstKey = 1, LastKey = lastKey, KeyStep = keyStep,
        };

    private static void Get(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        WriteValue(session, arguments[1], ref writer);

    private static void Set(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count == 3 && session.Keys.TryReplacePlain(arguments[1], arguments[2]))
        {
            NotifySet(session, arguments[1]);
            writer.WriteOk();
            return;
        }

        SetOptions options = default;
        if (!options.TryParse(arguments, 3, OptionsOf.Set))
        {
            writer.WriteError(RespErrors.Syntax);
        }
        else if (options.TryResolve(arguments, session.Keys.NowMs, "set", ref writer))
        {
            SetWith(session, arguments, options, ref writer);
        }
    }

    private static void SetWith(RespSession session, scoped in RespArguments arguments, in SetOptions options, ref RespWriter writer)
    {
        KeySpace keys = session.Keys;
        ReadOnlySpan<byte> key = arguments[1];
        ReadOnlySpan<byte> value = arguments[2];
        bool isCompared = options.Condition.Kind != ConditionKind.None;
        ResolvedExpiration expiration = options.HasMoment ? keys.At(options.MomentMs) : ResolvedExpiration.Never;
        WriteStatus status;
        if (!options.ReturnsOld && !options.KeepsExpiration && !isCompared)
        {
            status = keys.Write(
                key, EntryType.Value, value, expiration,
                options.IfAbsent ? WriteCondition.IfAbsent : options.IfPresent ? WriteCondition.IfPresent : WriteCondition.Always);
            NotifyIfStored(session, key, status, expiration);
            WriteStored(status, ref writer);
            return;
        }

        bool isMissReported = false;
        while (true)
        {
            bool isFound = keys.TryRead(key, out ReadOnlySpan<byte> old, out EntryInfo info);
            if ((options.ReturnsOld || (isCompared && !options.IfAbsent)) && isFound && info.Type == EntryType.Hash)
            {
                writer.WriteError(RespErrors.WrongType);
                return;
            }

            if (options.ReturnsOld && session.MustAwaitMemory(old.Length, 1, ref writer))
            {
                return;
            }

            if (options.ReturnsOld && !isFound && !isMissReported)
            {
                keys.ReportMiss(key);
                isMissReported = true;
            }

            bool isWanted = options.IfAbsent ? !isFound : !options.IfPresent || isFound;
            bool isMet = options.Condition.IsMetByMiss;
            if (isFound && !options.IfAbsent && !options.Condition.TryMeet(arguments, old, out isMet, ref writer))
            {
                return;
            }

            isWanted &= isMet;
            status = !isWanted ? WriteStatus.NotFound : keys.WriteIfUnchanged(
                key, EntryType.Value, value, options.KeepsExpiration ? keys.SameAs(info) : expiration, info);
            if (isWanted && KeySpace.IsOvertaken(status))
            {
                continue;
            }

            NotifyIfStored(session, key, status, expiration);
            if (!options.ReturnsOld || (isWanted && status != WriteStatus.Stored))
            {
                WriteStored(status, ref writer);
            }
            else if (isFound)
            {
                writer.WriteBulk(old);
            }
            else
            {
                writer.WriteNull();
            }

            return;
        }
    }

    public static void WriteStored(WriteStatus status, ref RespWriter writer)
    {
        if (status == WriteStatus.Stored)
        {
            writer.WriteOk();
        }
        else if (KeySpace.IsOvertaken(status))
        {
            writer.WriteNull();
        }
        else
        {
            writer.WriteError(RespErrors.Of(status));
        }
    }

    private static void SetEx(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        bool isMilliseconds = arguments[0].Length == 6;
        if (!Text.TryParse(arguments[2], out long time))
        {
            writer.WriteError(RespErrors.NotAnInteger);
            return;
        }

        if (!SetOptions.TryResolve(time, isMilliseconds, isRelative: true, session.Keys.NowMs, out long moment))
        {
            writer.WriteError(SetOptions.InvalidExpiration(isMilliseconds ? "psetex" : "setex"));
            return;
        }

        ResolvedExpiration expiration = session.Keys.At(moment);
        WriteStatus status = session.Keys.Write(arguments[1], EntryType.Value, arguments[3], expiration);
        NotifyIfStored(session, arguments[1], status, expiration);
        WriteStored(status, ref writer);
    }

    private static void NotifySet(RespSession session, ReadOnlySpan<byte> key) => session.Events.Notify(EventClasses.Strings, "set"u8, key);

    // Redis sets the value and then the expiration. A value that has expired when it is written expires at once.
    public static void NotifyIfStored(RespSession session, ReadOnlySpan<byte> key, WriteStatus status, in ResolvedExpiration expiration)
    {
        if (status != WriteStatus.Stored || !session.Events.IsOn)
        {
            return;
        }

        NotifySet(session, key);
        if (!expiration.IsNever)
        {
            session.Events.Notify(EventClasses.Generic, "expire"u8, key);
            if (expiration.IsPast)
            {
                session.Events.Notify(EventClasses.Expired, "expired"u8, key);
            }
        }
    }

    private static void SetNx(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        WriteStatus status = session.Keys.Write(
            arguments[1], EntryType.Value, arguments[2], ResolvedExpiration.Never, WriteCondition.IfAbsent);
        NotifyIfStored(session, arguments[1], status, ResolvedExpiration.Never);
        if (status is WriteStatus.Stored or WriteStatus.Exists)
        {
            writer.WriteInteger(status == WriteStatus.Stored ? 1 : 0);
        }
        else
        {
            writer.WriteError(RespErrors.Of(status));
        }
    }

    private static void GetSet(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        SetWith(session, arguments, new SetOptions { ReturnsOld = true }, ref writer);

    private static void GetDel(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        while (true)
        {
            if (!session.Keys.TryRead(arguments[1], out ReadOnlySpan<byte> value, out EntryInfo info))
            {
                session.Keys.ReportMiss(arguments[1]);
                writer.WriteNull();
                return;
            }

            if (info.Type == EntryType.Hash)
            {
                writer.WriteError(RespErrors.WrongType);
                return;
            }

            if (session.MustAwaitMemory(value.Length, 1, ref writer))
            {
                return;
            }

            WriteStatus status = session.Keys.RemoveIfUnchanged(arguments[1], info.Version);
            if (status == WriteStatus.Stored)
            {
                session.Events.Notify(EventClasses.Generic, "del"u8, arguments[1]);
                writer.WriteBulk(value);
                return;
            }

            if (!KeySpace.IsOvertaken(status))
            {
                writer.WriteError(RespErrors.Of(status));
                return;
            }
        }
    }

    private static void GetEx(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        KeySpace keys = session.Keys;
        SetOptions options = default;
        if (!options.TryParse(arguments, 2, OptionsOf.GetEx))
        {
            writer.WriteError(RespErrors.Syntax);
            return;
        }

        while (true)
        {
            if (!keys.TryRead(arguments[1], out ReadOnlySpan<byte> value, out EntryInfo info))
            {
                keys.ReportMiss(arguments[1]);
                writer.WriteNull();
                return;
            }

            if (info.Type == EntryType.Hash)
            {
                writer.WriteError(RespErrors.WrongType);
                return;
            }

            if (!options.TryResolve(arguments, keys.NowMs, "getex", ref writer) || session.MustAwaitMemory(value.Length, 1, ref writer))
            {
                return;
            }

            WriteStatus status = WriteStatus.Stored;
            if (options.HasMoment || (options.Persists && info.DeadlineUnixMs != long.MaxValue))
            {
                ResolvedExpiration expiration = options.HasMoment ? keys.At(options.MomentMs) : ResolvedExpiration.Never;
                status = keys.Touch(arguments[1], expiration, info);
                if (status == WriteStatus.Stored)
                {
                    ExpirationCommands.Notify(session, arguments[1], expiration);
                }
            }

            if (status == WriteStatus.Stored)
            {
                writer.WriteBulk(value);
                return;
            }

            if (!KeySpace.IsOvertaken(status))
            {
                writer.WriteError(RespErrors.Of(status));
                return;
            }
        }
    }

    private static void MGet(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        int i = session.ResumeAt;
        if (i == 0)
        {
            writer.WriteArrayHeader(arguments.Count - 1);
            i = 1;
        }

        for (; i < arguments.Count; i++)
        {
            if (session.MustPause(i, ref writer))
            {
                return;
            }

            session.FetchMore(arguments, i);
            if (!WriteValue(session, arguments[i], ref writer, isHashNull: true, i))
            {
                return;
            }
        }
    }

    private static void MSet(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!AreFewPairs(arguments, "mset", ref writer) || !session.TryTouchKeys(arguments, 1, arguments.Count - 1, 2, ref writer))
        {
            return;
        }

        if (!session.TryHoldKeys(arguments, 1, arguments.Count - 1, 2))
        {
            writer.WriteError(RespErrors.Busy);
            return;
        }

        try
        {
            WriteStored(SetPairs(session, arguments, 1, arguments.Count, default), ref writer);
        }
        finally
        {
            session.EndHold();
        }
    }

    private static void MSetNx(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        var options = new SetOptions { IfAbsent = true };
        if (AreFewPairs(arguments, "msetnx", ref writer))
        {
            SetIf(session, arguments, 1, arguments.Count, options, ref writer);
        }
    }

    // Pairs are set atomically. The worker serves no other client during that time.
    private static bool AreFewPairs(scoped in RespArguments arguments, string name, ref RespWriter writer)
    {
        if (arguments.Count % 2 == 0)
        {
            writer.WriteError(Text.Bytes($"ERR wrong number of arguments for '{name}' command"));
            return false;
        }

        if (arguments.Count / 2 > RespArguments.MaxPairs)
        {
            writer.WriteError(TooManyPairs(name));
            return false;
        }

        return true;
    }

    private static byte[] TooManyPairs(string name) =>
        Text.Bytes($"ERR {name.ToUpperInvariant()} sets at most {RespArguments.MaxPairs} keys at one moment. Send several commands.");

    private static WriteStatus SetPairs(RespSession session, scoped in RespArguments arguments, int first, int end, in SetOptions options)
    {
        KeySpace keys = session.Keys;
        ResolvedExpiration expiration = options.HasMoment ? keys.At(options.MomentMs) : ResolvedExpiration.Never;
        var result = WriteStatus.Stored;
        for (int i = first; i < end; i += 2)
        {
            session.FetchMore(arguments, i, first, step: 2);
            if (options.KeepsExpiration)
            {
                keys.TryGetInfo(arguments[i], out EntryInfo old);
                expiration = keys.SameAs(old);
            }

            WriteStatus status = keys.Write(arguments[i], EntryType.Value, arguments[i + 1], expiration);
            NotifyIfStored(session, arguments[i], status, options.KeepsExpiration ? ResolvedExpiration.Never : expiration);
            result = status == WriteStatus.Stored ? result : status;
        }

        return result;
    }

    private static void MSetEx(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!Text.TryParse(arguments[1], out long pairs) || pairs is <= 0 or > int.MaxValue)
        {
            writer.WriteError("ERR invalid numkeys value"u8);
            return;
        }

        if (pairs > (arguments.Count - 2) / 2)
        {
            writer.WriteError("ERR wrong number of key-value pairs"u8);
            return;
        }

        int end = 2 + (2 * (int)pairs);
        SetOptions options = default;
        if (!options.TryParse(arguments, end, OptionsOf.MSetEx))
        {
            writer.WriteError(RespErrors.Syntax);
        }
        else if (pairs > RespArguments.MaxPairs)
        {
            writer.WriteError(TooManyPairs("msetex"));
        }
        else if (options.TryResolve(arguments, session.Keys.NowMs, "msetex", ref writer))
        {
            SetIf(session, arguments, 2, end, options, ref writer);
        }
    }

    // Sets pairs at one moment, if none or all of their keys exist. Returns 1, or 0 if they do not.
    private static void SetIf(
        RespSession session, scoped in RespArguments arguments, int first, int end, in SetOptions options, ref RespWriter writer)
    {
        if (!session.TryTouchKeys(arguments, first, end - 2, 2, ref writer))
        {
            return;
        }

        if (!session.TryHoldKeys(arguments, first, end - 2, 2))
        {
            writer.WriteError(RespErrors.Busy);
            return;
        }

        try
        {
            for (int i = first; i < end && (options.IfAbsent || options.IfPresent); i += 2)
            {
                session.FetchMore(arguments, i, first, step: 2);
                if (session.Keys.TryGetInfo(arguments[i], out _) == options.IfAbsent)
                {
                    writer.WriteInteger(0);
                    return;
                }
            }

            WriteStatus status = SetPairs(session, arguments, first, end, options);
            if (status == WriteStatus.Stored)
            {
                writer.WriteInteger(1);
            }
            else
            {
                writer.WriteError(RespErrors.Of(status));
            }
        }
        finally
        {
            session.EndHold();
        }
    }

    private static void DelEx(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (arguments.Count is not (2 or 4))
        {
            writer.WriteError("ERR wrong number of arguments for 'delex' command"u8);
        }
        else
        {
            DeleteIf(session, arguments, new ValueCondition(arguments.Count == 2 ? ConditionKind.None : ValueCondition.KindAt(arguments, 2), 3), ref writer);
        }
    }

    private static void DelIfEq(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        DeleteIf(session, arguments, new ValueCondition(ConditionKind.Equal, 2), ref writer);

    private static void DeleteIf(RespSession session, scoped in RespArguments arguments, in ValueCondition condition, ref RespWriter writer)
    {
        while (true)
        {
            if (!session.Keys.TryRead(arguments[1], out ReadOnlySpan<byte> value, out EntryInfo info))
            {
                writer.WriteInteger(0);
                return;
            }

            if (arguments.Count > 2 && info.Type == EntryType.Hash)
            {
                writer.WriteError(arguments.Count == 3 ? RespErrors.WrongType : "ERR Key should be of string type if conditions are specified"u8);
                return;
            }

            if (arguments.Count == 4 && condition.Kind == ConditionKind.None)
            {
                writer.WriteError("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"u8);
                return;
            }

            if (!condition.TryMeet(arguments, value, out bool isMet, ref writer))
            {
                return;
            }

            WriteStatus status = isMet ? session.Keys.RemoveIfUnchanged(arguments[1], info.Version) : WriteStatus.Stored;
            if (status == WriteStatus.Stored)
            {
                if (isMet)
                {
                    session.Events.Notify(EventClasses.Generic, "del"u8, arguments[1]);
                }

                writer.WriteInteger(isMet ? 1 : 0);
                return;
            }

            if (!KeySpace.IsOvertaken(status))
            {
                writer.WriteError(RespErrors.Of(status));
                return;
            }
        }
    }

    private static void Digest(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!session.Keys.TryRead(arguments[1], out ReadOnlySpan<byte> value, out EntryInfo info))
        {
            writer.WriteNull();
        }
        else if (info.Type == EntryType.Hash)
        {
            writer.WriteError(RespErrors.WrongType);
        }
        else
        {
            Span<byte> digest = stackalloc byte[ValueCondition.DigestChars];
            ValueCondition.WriteDigest(value, digest);
            writer.WriteBulk(digest);
        }
    }

    private static void Append(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        KeySpace keys = session.Keys;
        while (true)
        {
            bool isFound = keys.TryReadWithRoom(arguments[1], arguments[2].Length, out Span<byte> joined, out EntryInfo info);
            if (isFound && info.Type == EntryType.Hash)
            {
                writer.WriteError(RespErrors.WrongType);
                return;
            }

            arguments[2].CopyTo(joined[info.ValueBytes..]);
            WriteStatus status = isFound
                ? keys.Rewrite(arguments[1], joined, info.Version)
                : keys.Write(arguments[1], EntryType.Value, joined, ResolvedExpiration.Never, WriteCondition.IfAbsent);
            if (status == WriteStatus.Stored)
            {
                session.Events.Notify(EventClasses.Strings, "append"u8, arguments[1]);
                writer.WriteInteger((long)info.ValueBytes + arguments[2].Length);
                return;
            }

            if (!KeySpace.IsOvertaken(status))
            {
                writer.WriteError(RespErrors.Of(status));
                return;
            }
        }
    }

    private static void StrLen(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!session.Keys.TryGetInfo(arguments[1], out EntryInfo info))
        {
            writer.WriteInteger(0);
        }
        else if (info.Type == EntryType.Hash)
        {
            writer.WriteError(RespErrors.WrongType);
        }
        else
        {
            writer.WriteInteger(info.ValueBytes);
        }
    }

    private static void GetRange(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!Text.TryParse(arguments[2], out long start) || !Text.TryParse(arguments[3], out long end))
        {
            writer.WriteError(RespErrors.NotAnInteger);
            return;
        }

        if (!session.Keys.TryRead(arguments[1], out ReadOnlySpan<byte> value, out EntryInfo info))
        {
            writer.WriteBulk(default(ReadOnlySpan<byte>));
            return;
        }

        if (info.Type == EntryType.Hash)
        {
            writer.WriteError(RespErrors.WrongType);
            return;
        }

        long length = value.Length;
        if (start < 0 && end < 0 && start > end)
        {
            writer.WriteBulk(default(ReadOnlySpan<byte>));
            return;
        }

        start = Math.Max(start < 0 ? length + start : start, 0);
        end = Math.Min(Math.Max(end < 0 ? length + end : end, 0), length - 1);
        ReadOnlySpan<byte> part = start > end || length == 0 ? default : value[(int)start..(int)(end + 1)];
        if (!session.MustAwaitMemory(part.Length, 1, ref writer))
        {
            writer.WriteBulk(part);
        }
    }

    private static void SetRange(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        KeySpace keys = session.Keys;
        if (!Text.TryParse(arguments[2], out long offset))
        {
            writer.WriteError(RespErrors.NotAnInteger);
            return;
        }

        if (offset < 0)
        {
            writer.WriteError("ERR offset is out of range"u8);
            return;
        }

        ReadOnlySpan<byte> part = arguments[3];
        int end = offset > keys.MaxValueBytes - part.Length ? 0 : (int)offset + part.Length;
        while (true)
        {
            bool isFound = keys.TryReadWithRoom(arguments[1], end, out Span<byte> changed, out EntryInfo info);
            if (isFound && info.Type == EntryType.Hash)
            {
                writer.WriteError(RespErrors.WrongType);
                return;
            }

            if (part.IsEmpty)
            {
                writer.WriteInteger(info.ValueBytes);
                return;
            }

            if (end == 0)
            {
                writer.WriteError(RespErrors.TooLong);
                return;
            }

            changed = changed[..Math.Max(info.ValueBytes, end)];
            changed[info.ValueBytes..].Clear();
            part.CopyTo(changed[(int)offset..]);
            WriteStatus status = isFound
                ? keys.Rewrite(arguments[1], changed, info.Version)
                : keys.Write(arguments[1], EntryType.Value, changed, ResolvedExpiration.Never, WriteCondition.IfAbsent);
            if (status == WriteStatus.Stored)
            {
                session.Events.Notify(EventClasses.Strings, "setrange"u8, arguments[1]);
                writer.WriteInteger(changed.Length);
                return;
            }

            if (!KeySpace.IsOvertaken(status))
            {
                writer.WriteError(RespErrors.Of(status));
                return;
            }
        }
    }

    private static int CountDigits(int number) => number switch
    {
        < 10 => 1,
        < 100 => 2,
        < 1_000 => 3,
        < 10_000 => 4,
        < 100_000 => 5,
        < 1_000_000 => 6,
        < 10_000_000 => 7,
        < 100_000_000 => 8,
        _ => 9,
    };
}
