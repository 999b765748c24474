using Cairn.Engine;
using Cairn.Server.Notifications;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands on keys of any type.</summary>
internal static class KeyCommands
{
    private const CommandFlags Reads = CommandFlags.ReadOnly | CommandFlags.Fast;
    private const CommandFlags Writes = CommandFlags.Write;

    // Limits the buckets that SCAN visits, so that a scan that finds few keys ends soon. A store of 1 GiB has fewer: with few keys, clients get
    // all of them in one reply, as from Redis.
    private const int BucketsPerWantedKey = 10;
    private const int FewestBuckets = 2 << 20;

    // Limits the reply, so that a scan that finds many keys also ends soon. COUNT is only a hint.
    private const int LongestScanBytes = 1 << 20;

    public static CommandInfo[] All { get; } =
    [
        Make("del", -2, Writes | CommandFlags.InPieces, Delete, lastKey: -1),
        Make("unlink", -2, Writes | CommandFlags.Fast | CommandFlags.InPieces, Delete, lastKey: -1),
        Make("exists", -2, Reads | CommandFlags.InPieces, Exists, lastKey: -1),
        Make("touch", -2, Reads | CommandFlags.InPieces, Exists, lastKey: -1),
        Make("type", 2, Reads, Type),
        Make("rename", 3, Writes | CommandFlags.Rewrites, (s, scoped in a, ref w) => Rename(s, a, isOnlyIfAbsent: false, ref w), lastKey: 2),
        Make("renamenx", 3, Writes | CommandFlags.Fast | CommandFlags.Rewrites, (s, scoped in a, ref w) => Rename(s, a, isOnlyIfAbsent: true, ref w), lastKey: 2),
        Make("copy", -3, Writes | CommandFlags.DenyOom | CommandFlags.Rewrites, Copy, lastKey: 2),
        Make("keys", 2, CommandFlags.ReadOnly | CommandFlags.AllKeys, Keys, firstKey: 0),
        Make("scan", -2, CommandFlags.ReadOnly | CommandFlags.AllKeys, Scan, firstKey: 0),
        Make("randomkey", 1, CommandFlags.ReadOnly | CommandFlags.AllKeys, RandomKey, firstKey: 0),
        new CommandInfo
        {
            Name = "object", Arity = -2, Flags = CommandFlags.None, Group = "generic", Handler = Encoding, Subcommands =
            [
                Make("object|encoding", 3, CommandFlags.ReadOnly, Encoding, firstKey: 2, lastKey: 2),
                Make("object|freq", 3, CommandFlags.ReadOnly, Frequency, firstKey: 2, lastKey: 2),
                Make("object|idletime", 3, CommandFlags.ReadOnly, IdleTime, firstKey: 2, lastKey: 2),
                Make("object|refcount", 3, CommandFlags.ReadOnly, ReferenceCount, firstKey: 2, lastKey: 2),
                HelpCommand.Of("object", "generic"),
            ],
        },
    ];

    private static CommandInfo Make(
        string name, int arity, CommandFlags flags, CommandHandler handler, int firstKey = 1, int lastKey = 1) =>
        new()
        {
            Name = name, Arity = arity, Flags = flags, Group = "generic", Handler = handler,
            FirstKey = firstKey, LastKey = firstKey == 0 ? 0 : lastKey, KeyStep = firstKey == 0 ? 0 : 1,
        };

    private static void Delete(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        for (int i = session.BeginAt(1); i < arguments.Count; i++)
        {
            if (session.MustPause(i, ref writer))
            {
                return;
            }

            session.FetchMore(arguments, i);
            if (session.Keys.Remove(arguments[i]))
            {
                session.Events.Notify(EventClasses.Generic, "del"u8, arguments[i]);
                session.Tally++;
            }
        }

        writer.WriteInteger(session.Tally);
    }

    private static void Exists(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        for (int i = session.BeginAt(1); i < arguments.Count; i++)
        {
            if (session.MustPause(i, ref writer))
            {
                return;
            }

            session.FetchMore(arguments, i);
            session.Tally += session.Keys.TryGetInfo(arguments[i], out _) ? 1 : 0;
        }

        writer.WriteInteger(session.Tally);
    }

    private static void Type(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        writer.WriteSimple(
            session.Keys.TryGetInfo(arguments[1], out EntryInfo info) ? RespTypes.NameOf(RespTypes.Of(info)) : "none"u8);

    private static void Rename(RespSession session, scoped in RespArguments arguments, bool isOnlyIfAbsent, ref RespWriter writer)
    {
        if (!session.TryHoldKeys(arguments, 1, 2, 1))
        {
            writer.WriteError(RespErrors.Busy);
            return;
        }

        try
        {
            KeySpace keys = session.Keys;
            if (!keys.TryRead(arguments[1], out ReadOnlySpan<byte> value, out EntryInfo info))
            {
                writer.WriteError(RespErrors.NoSuchKey);
                return;
            }

            bool isSame = arguments[1].SequenceEqual(arguments[2]);
            if (isOnlyIfAbsent && (isSame || keys.TryGetInfo(arguments[2], out _)))
            {
                writer.WriteInteger(0);
                return;
            }

            if (!isSame)
            {
                WriteStatus status = keys.Duplicate(arguments[2], value, info);
                if (status != WriteStatus.Stored)
                {
                    writer.WriteError(RespErrors.Of(status));
                    return;
                }

                keys.Remove(arguments[1]);
                session.Events.Notify(EventClasses.Generic, "rename_from"u8, arguments[1]);
                session.Events.Notify(EventClasses.Generic, "rename_to"u8, arguments[2]);
            }

            if (isOnlyIfAbsent)
            {
                writer.WriteInteger(1);
            }
            else
            {
                writer.WriteOk();
            }
        }
        finally
        {
            session.EndHold();
        }
    }

    private static void Copy(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        bool isReplacing = false;
        for (int i = 3; i < arguments.Count; i++)
        {
            if (arguments.Is(i, "replace"u8))
            {
                isReplacing = true;
            }
            else if (arguments.Is(i, "db"u8) && i + 1 < arguments.Count)
            {
                if (RespErrors.OfDatabase(arguments[++i]) is { Length: > 0 } error)
                {
                    writer.WriteError(error);
                    return;
                }
            }
            else
            {
                writer.WriteError(RespErrors.Syntax);
                return;
            }
        }

        if (arguments[1].SequenceEqual(arguments[2]))
        {
            writer.WriteError("ERR source and destination objects are the same"u8);
            return;
        }

        if (!session.TryHoldKeys(arguments, 1, 2, 1))
        {
            writer.WriteError(RespErrors.Busy);
            return;
        }

        try
        {
            KeySpace keys = session.Keys;
            bool isFound = keys.TryRead(arguments[1], out ReadOnlySpan<byte> value, out EntryInfo info);
            if (!isFound)
            {
                keys.ReportMiss(arguments[1]);
            }

            if (!isFound || (!isReplacing && keys.TryGetInfo(arguments[2], out _)))
            {
                writer.WriteInteger(0);
                return;
            }

            WriteStatus status = keys.Duplicate(arguments[2], value, info);
            if (status == WriteStatus.Stored)
            {
                session.Events.Notify(EventClasses.Generic, "copy_to"u8, arguments[2]);
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

    private static void Keys(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        StoreEngine engine = session.Keys.Engine;
        KeyFilter? filter = null;
        if (session.ResumeAt == 0 && !Text.TryReadPattern(arguments[1], out filter, ref writer))
        {
            return;
        }

        KeyScan scan = session.BeginScan(filter, type: null);
        while (!scan.IsWriting && scan.Bucket < engine.BucketCount)
        {
            if (session.MustPause(1, ref writer, scan.Visit(engine)))
            {
                return;
            }

            if (scan.ReplyBytes > session.MaxReplyBytes)
            {
                session.EndScan();
                writer.WriteError(RespErrors.ReplyTooLong(session.MaxReplyBytes, "SCAN has no such limit."));
                return;
            }
        }

        WriteKeys(session, scan, isScan: false, ref writer);
    }

    // Writes the scan's keys, after its cursor if it has one.
    private static void WriteKeys(RespSession session, KeyScan scan, bool isScan, ref RespWriter writer)
    {
        if (!scan.IsWriting)
        {
            scan.IsWriting = true;
            if (isScan)
            {
                writer.WriteArrayHeader(2);
                writer.WriteBulk(scan.Bucket == session.Keys.Engine.BucketCount ? 0 : scan.Bucket);
            }

            writer.WriteArrayHeader(scan.Found);
        }

        while (!session.MustPause(1, ref writer))
        {
            if (!scan.TryTake(out ReadOnlySpan<byte> key))
            {
                session.EndScan();
                return;
            }

            writer.WriteBulk(key);
        }
    }

    private static void Scan(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!Text.TryParseCursor(arguments[1], out ulong start))
        {
            writer.WriteError("ERR invalid cursor"u8);
            return;
        }

        KeyFilter? filter = null;
        RespType? type = null;
        long wanted = 10;
        for (int i = 2; i < arguments.Count; i += 2)
        {
            if (i + 1 == arguments.Count)
            {
                writer.WriteError(RespErrors.Syntax);
                return;
            }

            if (arguments.Is(i, "count"u8))
            {
                if (!Text.TryParse(arguments[i + 1], out wanted))
                {
                    writer.WriteError(RespErrors.NotAnInteger);
                    return;
                }

                if (wanted < 1)
                {
                    writer.WriteError(RespErrors.Syntax);
                    return;
                }
            }
            else if (arguments.Is(i, "match"u8))
            {
                if (!Text.TryReadPattern(arguments[i + 1], out filter, ref writer))
                {
                    return;
                }
            }
            else if (arguments.Is(i, "type"u8))
            {
                type = RespTypes.Parse(arguments[i + 1]);
            }
            else
            {
                writer.WriteError(RespErrors.Syntax);
                return;
            }
        }

        ScanFrom(session, start, wanted, filter, type, ref writer);
    }

    private static void ScanFrom(
        RespSession session, ulong start, long wanted, KeyFilter? filter, RespType? type, ref RespWriter writer)
    {
        StoreEngine engine = session.Keys.Engine;
        KeyScan scan = session.BeginScan(filter, type);
        long first = (long)Math.Min(start, (ulong)engine.BucketCount);
        long end = Math.Min(engine.BucketCount, first + Math.Max(FewestBuckets, Math.Min(wanted, int.MaxValue) * BucketsPerWantedKey));
        scan.Bucket = Math.Max(scan.Bucket, first);
        while (!scan.IsWriting && scan.Bucket < end && scan.Seen < wanted && scan.UsedBytes < LongestScanBytes)
        {
            if (session.MustPause(1, ref writer, scan.Visit(engine)))
            {
                return;
            }
        }

        WriteKeys(session, scan, isScan: true, ref writer);
    }

    // Returns the first key after a random bucket, so keys are not equally probable. The tally holds this bucket.
    private static void RandomKey(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        StoreEngine engine = session.Keys.Engine;
        byte[]? found = null;
        int seen = 0;
        byte[] prefix = session.User!.KeyPrefix;
        void Visit(ReadOnlySpan<byte> key, in EntryInfo info, uint collection)
        {
            seen++;
            if (session.Keys.Pinned.Shows(collection) && key.StartsWith(prefix) && (found is null || Random.Shared.Next(2) == 0))
            {
                found = key.ToArray();
            }
        }

        EntryVisitor visit = Visit;
        int next = session.BeginAt(1);
        if (session.ResumeAt == 0)
        {
            session.Tally = Random.Shared.NextInt64(engine.BucketCount);
        }

        for (; next <= engine.BucketCount && found is null; next++)
        {
            if (session.MustPause(next, ref writer, seen + (next % KeyScan.BucketsOfElement == 0 ? 1 : 0)))
            {
                return;
            }

            seen = 0;
            long bucket = (session.Tally + next - 1) % engine.BucketCount;
            if (engine.HasEntries(bucket, out long end))
            {
                engine.VisitBucket(bucket, visit);
            }
            else
            {
                next += (int)(end - bucket - 1); // The pages of an empty partition may not be in memory yet.
            }
        }

        if (found is null)
        {
            writer.WriteNull();
        }
        else
        {
            writer.WriteBulk(found);
        }
    }

    private static void Encoding(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!session.Keys.TryRead(arguments[2], out ReadOnlySpan<byte> value, out EntryInfo info))
        {
            writer.WriteNull();
        }
        else if (info.Type == EntryType.Hash)
        {
            writer.WriteBulk(RespTypes.Of(info) == RespType.Set ? "hashtable"u8 : "listpack"u8);
        }
        else
        {
            writer.WriteBulk(Text.TryParse(value, out _) ? "int"u8 : value.Length <= 44 ? "embstr"u8 : "raw"u8);
        }
    }

    private static void Frequency(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!session.Keys.TryGetInfo(arguments[2], out _))
        {
            writer.WriteNull();
        }
        else
        {
            writer.WriteError("ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."u8);
        }
    }

    // The store records how often an entry was used, not when.
    private static void IdleTime(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        WriteNumberIfFound(session, arguments, 0, ref writer);

    private static void ReferenceCount(RespSession session, scoped in RespArguments arguments, ref RespWriter writer) =>
        WriteNumberIfFound(session, arguments, 1, ref writer);

    private static void WriteNumberIfFound(RespSession session, scoped in RespArguments arguments, long number, ref RespWriter writer)
    {
        if (session.Keys.TryGetInfo(arguments[2], out _))
        {
            writer.WriteInteger(number);
        }
        else
        {
            writer.WriteNull();
        }
    }
}
