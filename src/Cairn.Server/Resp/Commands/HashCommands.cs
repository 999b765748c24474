using Cairn.Engine;
using Cairn.Protocol;
using Cairn.Server.Notifications;
using Cairn.Server.Resp.Hashes;

namespace Cairn.Server.Resp.Commands;

/// <summary>Commands on hashes. Reads access the entry in place. A change writes the whole entry anew if it has not changed since it was
/// read.</summary>
internal static class HashCommands
{
    private const CommandFlags Reads = CommandFlags.ReadOnly | CommandFlags.Fast;
    private const CommandFlags ReadsAll = CommandFlags.ReadOnly | CommandFlags.RepliesValues;
    private const CommandFlags Writes = CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.Fast;

    // The index of the first field of HMGET.
    private const int FirstField = 2;

    // The number of fields that are searched in the time of one ordinary key.
    private const int FieldsOfElement = 4096;

    public static CommandInfo[] All { get; } =
    [
        Make("hset", -4, Writes, (s, scoped in a, ref w) => Set(s, a, "hset", isOkReply: false, ref w)),
        Make("hmset", -4, Writes, (s, scoped in a, ref w) => Set(s, a, "hmset", isOkReply: true, ref w)),
        Make("hsetnx", 4, Writes, SetNx),
        Make("hget", 3, Reads, Get),
        Make("hmget", -3, Reads, MGet),
        Make("hgetall", 2, ReadsAll, (s, scoped in a, ref w) => GetAll(s, a, hasFields: true, hasValues: true, ref w)),
        Make("hkeys", 2, CommandFlags.ReadOnly, (s, scoped in a, ref w) => GetAll(s, a, hasFields: true, hasValues: false, ref w)),
        Make("hvals", 2, CommandFlags.ReadOnly, (s, scoped in a, ref w) => GetAll(s, a, hasFields: false, hasValues: true, ref w)),
        Make("hdel", -3, CommandFlags.Write | CommandFlags.Fast, Delete),
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

        session.Editor.Load(new HashView(entry.Bytes));
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
            bool isFound = hash.TryGet(arguments[2], out ReadOnlySpan<byte> value);
            if (!session.MustAwaitMemory(value.Length, 1, ref writer))
            {
                WriteBulkOrNull(isFound, value, ref writer);
            }
        }
    }

    // A hash is one value, so all fields must be consistent. A reply in pieces is created from a copy.
    private static void MGet(RespSession session, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (session.ReplySource.IsHeld)
        {
            if (TryWriteFields(session, new HashView(session.ReplySource.Bytes), arguments, ref writer))
            {
                session.ReplySource.Release();
            }

            return;
        }

        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (IsHash(entry, ref writer) && !TryWriteFields(session, new HashView(entry.Bytes), arguments, ref writer)
            && session.ResumeAt >= FirstField)
        {
            session.ReplySource.Hold(entry.Bytes);
        }
    }

    // Returns false if the command must return. Nothing is written before the first field, so the hash may change until then.
    private static bool TryWriteFields(RespSession session, HashView hash, scoped in RespArguments arguments, ref RespWriter writer)
    {
        for (int i = Math.Max(session.ResumeAt, FirstField - 1); i < arguments.Count; i++)
        {
            int field = Math.Max(i, FirstField);
            bool isFound = hash.TryGet(arguments[field], out ReadOnlySpan<byte> value);
            if (session.MustPause(i, ref writer, 1 + (hash.Count / FieldsOfElement)) || session.MustAwaitMemory(value.Length, i, ref writer))
            {
                return false;
            }

            if (i < FirstField)
            {
                writer.WriteArrayHeader(arguments.Count - FirstField);
                continue;
            }

            WriteBulkOrNull(isFound, value, ref writer);
        }

        return true;
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

    // An upper limit: the fields and values, each with a header.
    private static long ReplyBytesOf(HashView hash, int bytes) => bytes + (hash.Count * 2L * RespWriter.MaxHeaderBytes);

    private static void GetAll(
        RespSession session, scoped in RespArguments arguments, bool hasFields, bool hasValues, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (!IsHash(entry, ref writer))
        {
            return;
        }

        var hash = new HashView(entry.Bytes);
        if (session.MustAwaitMemory(ReplyBytesOf(hash, entry.Bytes.Length), 1, ref writer))
        {
            return;
        }

        if (hasFields && hasValues)
        {
            writer.WriteMapHeader(hash.Count);
        }
        else
        {
            writer.WriteArrayHeader(hash.Count);
        }

        for (int i = 0; i < hash.Count; i++)
        {
            hash.TryGet(i, out ReadOnlySpan<byte> field, out ReadOnlySpan<byte> value);
            if (hasFields)
            {
                writer.WriteBulk(field);
            }

            if (hasValues)
            {
                writer.WriteBulk(value);
            }
        }
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
            writer.WriteInteger(new HashView(entry.Bytes).Find(arguments[2]) >= 0 ? 1 : 0);
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
            writer.WriteInteger(new HashView(entry.Bytes).TryGet(arguments[2], out ReadOnlySpan<byte> value) ? value.Length : 0);
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

        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (!IsHash(entry, ref writer))
        {
            return;
        }

        KeyFilter? filter = null;
        for (int i = 3; i < arguments.Count && entry.IsFound; i += 2)
        {
            bool isCount = arguments.Is(i, "count"u8) && i + 1 < arguments.Count;
            if (isCount && !Text.TryParse(arguments[i + 1], out _))
            {
                writer.WriteError(RespErrors.NotAnInteger);
                return;
            }

            if (isCount && Text.TryParse(arguments[i + 1], out long count) && count >= 1)
            {
                continue;
            }

            if (isCount || !arguments.Is(i, "match"u8) || i + 1 == arguments.Count)
            {
                writer.WriteError(RespErrors.Syntax);
                return;
            }

            if (!Text.TryReadPattern(arguments[i + 1], out filter, ref writer))
            {
                return;
            }
        }

        // Returns all fields in one reply, as Redis does with a hash of few fields.
        var hash = new HashView(entry.Bytes);
        int matches = 0;
        for (int i = 0; i < hash.Count; i++)
        {
            hash.TryGet(i, out ReadOnlySpan<byte> field, out _);
            matches += filter is null || filter.Matches(field) ? 1 : 0;
        }

        if (session.MustAwaitMemory(ReplyBytesOf(hash, entry.Bytes.Length), 1, ref writer))
        {
            return;
        }

        writer.WriteArrayHeader(2);
        writer.WriteBulk(0);
        writer.WriteArrayHeader(matches * 2);
        for (int i = 0; i < hash.Count && matches > 0; i++)
        {
            hash.TryGet(i, out ReadOnlySpan<byte> field, out ReadOnlySpan<byte> value);
            if (filter is null || filter.Matches(field))
            {
                writer.WriteBulk(field);
                writer.WriteBulk(value);
                matches--;
            }
        }
    }
}
