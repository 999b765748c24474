using Cairn.Engine;
using Cairn.Protocol;
using Cairn.Server.Buffers;
using Cairn.Server.Notifications;
using Cairn.Server.Resp.Hashes;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands on hashes. Reads access the entry in place. A change writes the whole entry anew if it has not changed since it was
/// read.</summary>
internal static class HashCommands
{
    private const CommandFlags Reads = CommandFlags.ReadOnly | CommandFlags.Fast;
    private const CommandFlags ReadsAll = CommandFlags.ReadOnly | CommandFlags.RepliesValues;
    private const CommandFlags Writes = CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast | CommandFlags.Rewrites;

    // The element before the first one of a reply, at which nothing is written yet. The index of the first field of HMGET.
    private const int BeforeReply = 1;
    private const int FirstField = 2;

    // The number of fields that are loaded, and of those that are encoded, in the time of one ordinary key.
    private const int LoadedFieldsOfElement = 8;

    // The number of fields that are searched in the time of one ordinary key.
    private const int FieldsOfElement = 4096;

    // Delegates that are created only once.
    private static readonly ReplyWriter s_someFields = TryWriteSome;
    private static readonly ReplyWriter s_scan = TryScan;
    private static readonly ReplyWriter s_fieldsAndValues = (s, hash, scoped in _, mayPause, ref w) => TryWriteAll(s, hash, true, true, mayPause, ref w);
    private static readonly ReplyWriter s_fields = (s, hash, scoped in _, mayPause, ref w) => TryWriteAll(s, hash, true, false, mayPause, ref w);
    private static readonly ReplyWriter s_values = (s, hash, scoped in _, mayPause, ref w) => TryWriteAll(s, hash, false, true, mayPause, ref w);

    // Writes a reply from a hash. Returns false if the command must return, which only mayPause allows.
    private delegate bool ReplyWriter(RespSession session, HashView hash, scoped in RespArguments arguments, bool mayPause, ref RespWriter writer);

    public static CommandInfo[] All { get; } =
    [
        Make("hset", -4, Writes, (s, scoped in a, ref w) => Set(s, a, "hset", isOkReply: false, ref w)),
        Make("hmset", -4, Writes, (s, scoped in a, ref w) => Set(s, a, "hmset", isOkReply: true, ref w)),
        Make("hsetnx", 4, Writes, SetNx),
        Make("hget", 3, Reads, Get),
        Make("hmget", -3, Reads, (s, scoped in a, ref w) => Reply(s, a, s_someFields, ref w)),
        Make("hgetall", 2, ReadsAll, (s, scoped in a, ref w) => Reply(s, a, s_fieldsAndValues, ref w)),
        Make("hkeys", 2, ReadsAll, (s, scoped in a, ref w) => Reply(s, a, s_fields, ref w)),
        Make("hvals", 2, ReadsAll, (s, scoped in a, ref w) => Reply(s, a, s_values, ref w)),
        Make("hdel", -3, CommandFlags.Write | CommandFlags.Fast | CommandFlags.Rewrites, Delete),
        Make("hexists", 3, Reads, Exists),
        Make("hlen", 2, Reads, Length),
        Make("hstrlen", 3, Reads, StrLen),
        Make("hincrby", 4, Writes, IncrBy),
        Make("hincrbyfloat", 4, Writes, IncrByFloat),
        Make("hscan", -3, CommandFlags.ReadOnly, Scan),
    ];

    /// <summary>Gets the error for a hash that is too long for the store.</summary>
    public static ReadOnlySpan<byte> TooLong => "ERR a hash has at most 1 MiB, its directory counted"u8;

    private static CommandInfo Make(string name, int arity, CommandFlags flags, CommandHandler handler) => new()
    {
        Name = name, Arity = arity, Flags = flags, Group = "hash", Handler = handler, FirstKey = 1, LastKey = 1, KeyStep = 1,
    };

    // Returns true if the key has a hash, or does not exist. If not, writes the error.
    private static bool IsHash(scoped in PinnedEntry entry, ref RespWriter writer)
    {
        if (!entry.IsFound || entry.Info.Type == EntryType.Hash)
        {
            return true;
        }

        writer.WriteError(RespErrors.WrongType);
        return false;
    }

    // Loads the key's hash into the editor. Returns false, and writes the error, if the key holds something else.
    private static bool TryLoad(RespSession session, ReadOnlySpan<byte> key, out EntryInfo info, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(key);
        info = entry.Info;
        if (!IsHash(entry, ref writer))
        {
            return false;
        }

        var hash = new HashView(entry.Bytes);
        session.CountWork(hash.Count / LoadedFieldsOfElement);
        session.Editor.Load(hash);
        return true;
    }

    // Writes the editor's hash. Returns false if the key has changed since it was loaded. The caller then loads and edits it again. Every
    // other result is final. If isStored is true, the caller writes the reply.
    private static bool TrySave(
        RespSession session, ReadOnlySpan<byte> key, in EntryInfo old, out bool isStored, ref RespWriter writer)
    {
        KeySpace keys = session.Keys;
        WriteStatus status;
        isStored = false;
        if (session.Editor.Count == 0)
        {
            status = old.Version == 0 ? WriteStatus.Stored : keys.RemoveIfUnchanged(key, old.Version);
        }
        else if (session.Editor.TryEncode(out ReadOnlySpan<byte> encoded) && encoded.Length <= keys.MaxValueBytes)
        {
            status = keys.WriteIfUnchanged(key, EntryType.Hash, encoded, keys.SameAs(old), old);
        }
        else
        {
            writer.WriteError(TooLong);
            return true;
        }

        if (KeySpace.IsOvertaken(status))
        {
            return false;
        }

        isStored = status == WriteStatus.Stored;
        if (!isStored)
        {
            writer.WriteError(RespErrors.Of(status));
        }

        return true;
    }

    private static void Notify(RespSession session, ReadOnlySpan<byte> key, bool isStored, ReadOnlySpan<byte> name)
    {
        if (isStored)
        {
            session.Events.Notify(EventClasses.Hashes, name, key);
        }
    }

    // A hash without fields is removed.
    private static void NotifyDeletion(RespSession session, ReadOnlySpan<byte> key, int removedFields)
    {
        Notify(session, key, removedFields > 0, "hdel"u8);
        if (removedFields > 0 && session.Editor.Count == 0)
        {
            session.Events.Notify(EventClasses.Generic, "del"u8, key);
        }
    }

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

        while (TryLoad(session, arguments[1], out EntryInfo info, ref writer))
        {
            int added = 0;
            for (int i = 2; i < arguments.Count; i += 2)
            {
                added += session.Editor.Set(arguments[i], arguments[i + 1]) ? 1 : 0;
            }

            if (TrySave(session, arguments[1], info, out bool isStored, ref writer))
            {
                Notify(session, arguments[1], isStored, "hset"u8);
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
                if (!IsHash(entry, ref writer))
                {
                    return;
                }

                if (new HashView(entry.Bytes).Find(arguments[2]) >= 0)
                {
                    writer.WriteInteger(0);
                    return;
                }
            }

            if (!TryLoad(session, arguments[1], out EntryInfo info, ref writer))
            {
                return;
            }

            if (session.Editor.Set(arguments[2], arguments[3])
                && TrySave(session, arguments[1], info, out bool isStored, ref writer))
            {
                Notify(session, arguments[1], isStored, "hset"u8);
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
        if (IsHash(entry, ref writer))
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

    // A hash is one value, so all elements of a reply must be of one moment. A reply that must be written in pieces holds the hash, as
    // memcached's get holds a long value. Any other reply is written as a whole.
    private static void Reply(RespSession session, scoped in RespArguments arguments, ReplyWriter write, ref RespWriter writer)
    {
        if (!session.IsSourceHeld)
        {
            using PinnedEntry entry = session.Keys.Pin(arguments[1]);
            if (!IsHash(entry, ref writer) || session.MustPause(BeforeReply, ref writer))
            {
                return;
            }

            var hash = new HashView(entry.Bytes);
            bool isShort = IsShort(hash, write == s_someFields, arguments, out long bytes);
            if (isShort || session.IsExecutingQueue)
            {
                if (session.IsExecutingQueue || !session.MustAwaitMemory(bytes, BeforeReply, ref writer))
                {
                    write(session, hash, arguments, session.IsExecutingQueue, ref writer);
                }

                return;
            }
        }

        if (session.TryHoldSource(arguments[1], BeforeReply, ref writer)
            && write(session, new HashView(session.Source), arguments, true, ref writer))
        {
            session.ReleaseSource();
        }
    }

    // Returns whether a reply is written as a whole, and the maximum length of its elements in bytes.
    private static bool IsShort(HashView hash, bool isOfSomeFields, scoped in RespArguments arguments, out long bytes)
    {
        int fields = isOfSomeFields ? arguments.Count - FirstField : hash.Count;
        bytes = fields * 2L * RespWriter.MaxHeaderBytes;
        if (fields > RespSession.ElementsPerTurn || (isOfSomeFields && fields * WorkOfSearch(hash) > RespSession.ElementsPerTurn))
        {
            return false;
        }

        bytes += isOfSomeFields ? 0 : hash.Bytes;
        for (int i = FirstField; isOfSomeFields && i < arguments.Count && bytes <= OutputBuffer.FullBytes; i++)
        {
            bytes += hash.TryGet(arguments[i], out ReadOnlySpan<byte> value) ? value.Length : 0;
        }

        return bytes <= OutputBuffer.FullBytes;
    }

    private static int WorkOfSearch(HashView hash) => 1 + (hash.Count / FieldsOfElement);

    private static bool TryWriteSome(
        RespSession session, HashView hash, scoped in RespArguments arguments, bool mayPause, ref RespWriter writer)
    {
        if (session.ResumeAt <= BeforeReply)
        {
            writer.WriteArrayHeader(arguments.Count - FirstField);
        }

        int work = WorkOfSearch(hash);
        for (int i = Math.Max(session.ResumeAt, FirstField); i < arguments.Count; i++)
        {
            bool isFound = hash.TryGet(arguments[i], out ReadOnlySpan<byte> value);
            if (MustPause(session, i, work, value.Length, mayPause, ref writer))
            {
                return false;
            }

            WriteBulkOrNull(isFound, value, ref writer);
        }

        return true;
    }

    private static bool MustPause(RespSession session, int element, int work, long bytes, bool mayPause, ref RespWriter writer)
    {
        if (mayPause)
        {
            return session.MustPause(element, ref writer, work) || session.MustAwaitMemory(bytes, element, ref writer);
        }

        session.CountWork(work);
        return false;
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

    // A change is atomic. The worker serves no other client during it.
    private static bool AreFewFields(int count, ref RespWriter writer)
    {
        if (count > HashView.MaxFields)
        {
            writer.WriteError(Text.Bytes($"ERR a hash is changed by at most {HashView.MaxFields} fields at one moment. Send several commands."));
            return false;
        }

        return true;
    }

    private static void Delete(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!AreFewFields(arguments.Count - 2, ref writer))
        {
            return;
        }

        while (TryLoad(session, arguments[1], out EntryInfo info, ref writer))
        {
            int removed = 0;
            for (int i = 2; i < arguments.Count; i++)
            {
                removed += session.Editor.Remove(arguments[i]) ? 1 : 0;
            }

            bool isStored = true;
            if (removed == 0 || TrySave(session, arguments[1], info, out isStored, ref writer))
            {
                NotifyDeletion(session, arguments[1], isStored ? removed : 0);
                if (isStored)
                {
                    writer.WriteInteger(removed);
                }

                return;
            }
        }
    }

    private static void Exists(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (IsHash(entry, ref writer))
        {
            var hash = new HashView(entry.Bytes);
            session.CountWork(hash.Count / FieldsOfElement);
            writer.WriteInteger(hash.Find(arguments[2]) >= 0 ? 1 : 0);
        }
    }

    private static void Length(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (IsHash(entry, ref writer))
        {
            writer.WriteInteger(new HashView(entry.Bytes).Count);
        }
    }

    private static void StrLen(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (IsHash(entry, ref writer))
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
        while (TryLoad(session, arguments[1], out EntryInfo info, ref writer))
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
            if (TrySave(session, arguments[1], info, out bool isStored, ref writer))
            {
                Notify(session, arguments[1], isStored, "hincrby"u8);
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

        while (TryLoad(session, arguments[1], out EntryInfo info, ref writer))
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
            session.Editor.Set(arguments[2], text);
            if (TrySave(session, arguments[1], info, out bool isStored, ref writer))
            {
                Notify(session, arguments[1], isStored, "hincrbyfloat"u8);
                if (isStored)
                {
                    writer.WriteBulk(text);
                }

                return;
            }
        }
    }

    private static void Scan(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (!Text.TryParseCursor(arguments[2], out _))
        {
            writer.WriteError("ERR invalid cursor"u8);
            return;
        }

        Reply(session, arguments, s_scan, ref writer);
    }

    private static bool TryScan(RespSession session, HashView hash, scoped in RespArguments arguments, bool mayPause, ref RespWriter writer) =>
        !TryReadScan(arguments, hash, out KeyFilter? filter, ref writer) || TryWriteScan(session, hash, filter, mayPause, ref writer);

    // Returns false after writing the error. Redis reads no options if there is no hash.
    private static bool TryReadScan(scoped in RespArguments arguments, HashView hash, out KeyFilter? filter, ref RespWriter writer)
    {
        filter = null;
        for (int i = 3; i < arguments.Count && hash.Count > 0; i += 2)
        {
            bool isCount = arguments.Is(i, "count"u8) && i + 1 < arguments.Count;
            if (isCount && !Text.TryParse(arguments[i + 1], out _))
            {
                writer.WriteError(RespErrors.NotAnInteger);
                return false;
            }

            if (isCount && Text.TryParse(arguments[i + 1], out long count) && count >= 1)
            {
                continue;
            }

            if (isCount || !arguments.Is(i, "match"u8) || i + 1 == arguments.Count)
            {
                writer.WriteError(RespErrors.Syntax);
                return false;
            }

            if (!Text.TryReadPattern(arguments[i + 1], out filter, ref writer))
            {
                return false;
            }
        }

        return true;
    }

    // Replies with all fields, as Redis does with a hash of few fields: first it counts those that match, then it writes them. An element
    // below FirstField + Count is a field to count, and each later one a field to write.
    private static bool TryWriteScan(RespSession session, HashView hash, KeyFilter? filter, bool mayPause, ref RespWriter writer)
    {
        int written = FirstField + hash.Count;
        for (int element = Math.Max(session.BeginAt(FirstField), FirstField);
            element < written + hash.Count && (element < written || session.Tally > 0);
            element++)
        {
            hash.TryGet((element - FirstField) % hash.Count, out ReadOnlySpan<byte> field, out ReadOnlySpan<byte> value);
            long bytes = element < written ? 0 : (long)field.Length + value.Length;
            if (MustPause(session, element, WorkOf(filter, field), bytes, mayPause, ref writer))
            {
                return false;
            }

            if (element == written)
            {
                WriteScanHead(session, ref writer);
            }

            if (filter is not null && !filter.Matches(field))
            {
                continue;
            }

            if (element < written)
            {
                session.Tally++;
            }
            else
            {
                writer.WriteBulk(field);
                writer.WriteBulk(value);
            }
        }

        if (session.Tally == 0)
        {
            WriteScanHead(session, ref writer);
        }

        return true;
    }

    private static void WriteScanHead(RespSession session, ref RespWriter writer)
    {
        writer.WriteArrayHeader(2);
        writer.WriteBulk(0);
        writer.WriteArrayHeader((int)session.Tally * 2);
    }

    private static int WorkOf(KeyFilter? filter, ReadOnlySpan<byte> field) =>
        1 + (int)((filter?.BytesAfterStar ?? 0) * (long)field.Length / KeyScan.ComparisonsOfElement);
}
