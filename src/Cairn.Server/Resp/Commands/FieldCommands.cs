using Cairn.Engine;
using Cairn.Server.Buffers;
using Cairn.Server.Notifications;
using Cairn.Server.Resp.Hashes;

namespace Cairn.Server.Resp.Commands;

/// <summary>Writes a reply from the fields of an entry. Returns false if the command must return, which only mayPause allows.</summary>
internal delegate bool FieldsWriter(RespSession session, HashView hash, scoped in RespArguments arguments, bool mayPause, ref RespWriter writer);

/// <summary>Writes a field that a request named, or that it is missing.</summary>
internal delegate void FieldWriter(bool isFound, ReadOnlySpan<byte> value, ref RespWriter writer);

/// <summary>The common parts of the commands on hashes, sets and sorted sets. Reads access the entry in place. A change writes the whole entry
/// again, if it has not changed since it was read.</summary>
internal static class FieldCommands
{
    // The element before the first one of a reply, at which nothing is written yet. The index of the first field of HMGET.
    public const int BeforeReply = 1;
    public const int FirstField = 2;

    // The number of fields that are loaded, and of those that are encoded, in the time of one ordinary key.
    private const int LoadedFieldsOfElement = 8;

    // The number of fields that are searched in the time of one ordinary key.
    public const int FieldsOfElement = 4096;

    /// <summary>Gets the error for an entry that is too long for the store.</summary>
    public static ReadOnlySpan<byte> TooLong => "ERR a hash, set or sorted set has at most 1 MiB, its directory counted"u8;

    /// <summary>Returns true if the key has an entry of this type, or does not exist. If not, writes the error.</summary>
    public static bool IsOfType(scoped in PinnedEntry entry, RespType type, ref RespWriter writer)
    {
        if (!entry.IsFound || RespTypes.Of(entry.Info) == type)
        {
            return true;
        }

        writer.WriteError(RespErrors.WrongType);
        return false;
    }

    /// <summary>Loads the key's fields into the editor. Returns false, and writes the error, if the key holds something else.</summary>
    public static bool TryLoad(RespSession session, ReadOnlySpan<byte> key, RespType type, out EntryInfo info, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(key);
        info = entry.Info;
        if (!IsOfType(entry, type, ref writer))
        {
            return false;
        }

        Load(session, type, new HashView(entry.Bytes));
        return true;
    }

    /// <summary>Loads fields into the editor.</summary>
    public static void Load(RespSession session, RespType type, HashView hash)
    {
        session.CountWork(hash.Count / LoadedFieldsOfElement);
        session.Editor.Load(hash, isSorted: type == RespType.SortedSet);
    }

    /// <summary>Writes the editor's fields. Returns false if the key has changed since it was loaded. The caller then loads and edits it
    /// again. Every other result is final. If <paramref name="isStored"/> is true, the caller writes the reply.</summary>
    public static bool TrySave(
        RespSession session, ReadOnlySpan<byte> key, RespType type, in EntryInfo old, out bool isStored, ref RespWriter writer)
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
            status = keys.WriteIfUnchanged(key, EntryType.Hash, encoded, keys.SameAs(old), old, RespTypes.FlagsOf(type));
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

    public static void Notify(RespSession session, ReadOnlySpan<byte> key, RespType type, bool isStored, ReadOnlySpan<byte> name)
    {
        if (isStored)
        {
            session.Events.Notify(RespTypes.EventsOf(type), name, key);
        }
    }

    /// <summary>Notifies of removed fields. An entry without fields is removed.</summary>
    public static void NotifyRemoval(RespSession session, ReadOnlySpan<byte> key, RespType type, ReadOnlySpan<byte> name)
    {
        Notify(session, key, type, isStored: true, name);
        if (session.Editor.Count == 0)
        {
            session.Events.Notify(EventClasses.Generic, "del"u8, key);
        }
    }

    /// <summary>Returns whether a change of this many fields is short enough: it is atomic, so the worker serves no other client during
    /// it. If not, writes the error.</summary>
    public static bool AreFewFields(int count, ref RespWriter writer)
    {
        if (count > HashView.MaxFields)
        {
            writer.WriteError(Text.Bytes($"ERR an entry is changed by at most {HashView.MaxFields} fields at one moment. Send several commands."));
            return false;
        }

        return true;
    }

    /// <summary>Removes the fields that the arguments name. Replies with the number of removed fields.</summary>
    public static void Delete(RespSession session, scoped in RespArguments arguments, RespType type, ReadOnlySpan<byte> name, ref RespWriter writer)
    {
        if (!AreFewFields(arguments.Count - 2, ref writer))
        {
            return;
        }

        while (TryLoad(session, arguments[1], type, out EntryInfo info, ref writer))
        {
            int removed = 0;
            for (int i = 2; i < arguments.Count; i++)
            {
                removed += session.Editor.Remove(arguments[i]) ? 1 : 0;
            }

            bool isStored = true;
            if (removed == 0 || TrySave(session, arguments[1], type, info, out isStored, ref writer))
            {
                if (isStored && removed > 0)
                {
                    NotifyRemoval(session, arguments[1], type, name);
                }

                if (isStored)
                {
                    writer.WriteInteger(removed);
                }

                return;
            }
        }
    }

    /// <summary>Replies with the number of fields.</summary>
    public static void Count(RespSession session, scoped in RespArguments arguments, RespType type, ref RespWriter writer)
    {
        using PinnedEntry entry = session.Keys.Pin(arguments[1]);
        if (IsOfType(entry, type, ref writer))
        {
            writer.WriteInteger(new HashView(entry.Bytes).Count);
        }
    }

    /// <summary>Writes a reply from an entry's fields.</summary>
    /// <remarks>An entry is one value, so all elements of a reply must be of one moment. A reply that must be written in pieces holds the
    /// entry, as memcached's get holds a long value. Any other reply is written as a whole.</remarks>
    public static void Reply(
        RespSession session, scoped in RespArguments arguments, RespType type, FieldsWriter write, ref RespWriter writer) =>
        Reply(session, arguments, type, write, isOfSomeFields: false, ref writer);

    /// <summary>Does the same. If <paramref name="isOfSomeFields"/> is true, the arguments name the fields.</summary>
    public static void Reply(
        RespSession session, scoped in RespArguments arguments, RespType type, FieldsWriter write, bool isOfSomeFields, ref RespWriter writer)
    {
        if (!session.IsSourceHeld)
        {
            using PinnedEntry entry = session.Keys.Pin(arguments[1]);
            if (!IsOfType(entry, type, ref writer) || session.MustPause(BeforeReply, ref writer))
            {
                return;
            }

            var hash = new HashView(entry.Bytes);
            bool isShort = IsShort(hash, isOfSomeFields, arguments, out long bytes);
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

    public static int WorkOfSearch(HashView hash) => 1 + (hash.Count / FieldsOfElement);

    public static bool MustPause(RespSession session, int element, int work, long bytes, bool mayPause, ref RespWriter writer)
    {
        if (mayPause)
        {
            return session.MustPause(element, ref writer, work) || session.MustAwaitMemory(bytes, element, ref writer);
        }

        session.CountWork(work);
        return false;
    }

    /// <summary>Returns a writer of the fields that the arguments name, in their order, as HMGET, SMISMEMBER and ZMSCORE reply with them.</summary>
    public static FieldsWriter SomeOf(FieldWriter write) => (session, hash, scoped in arguments, mayPause, ref writer) =>
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

            write(isFound, value, ref writer);
        }

        return true;
    };

    /// <summary>Returns a writer of all fields of a type, as HSCAN, SSCAN and ZSCAN reply with them.</summary>
    public static FieldsWriter ScanOf(RespType type) => (session, hash, scoped in arguments, mayPause, ref writer) =>
        !TryReadScan(arguments, type, hash, out KeyFilter? filter, out bool withValues, ref writer)
        || TryWriteScan(session, hash, type, filter, withValues, mayPause, ref writer);

    public static void Scan(RespSession session, scoped in RespArguments arguments, RespType type, FieldsWriter write, ref RespWriter writer)
    {
        if (!Text.TryParseCursor(arguments[2], out _))
        {
            writer.WriteError("ERR invalid cursor"u8);
            return;
        }

        Reply(session, arguments, type, write, ref writer);
    }

    // Returns false after writing the error. Redis reads no options if there is no hash.
    private static bool TryReadScan(
        scoped in RespArguments arguments, RespType type, HashView hash, out KeyFilter? filter, out bool withValues, ref RespWriter writer)
    {
        filter = null;
        withValues = true;
        for (int i = 3; i < arguments.Count && hash.Count > 0; i += 2)
        {
            if (type == RespType.Hash && arguments.Is(i, "novalues"u8))
            {
                withValues = false;
                i--;
                continue;
            }

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
    private static bool TryWriteScan(RespSession session, HashView hash, RespType type, KeyFilter? filter, bool withValues, bool mayPause, ref RespWriter writer)
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
                WriteScanHead(session, isPairs: type != RespType.Set && withValues, ref writer);
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
                if (type == RespType.SortedSet)
                {
                    WriteScanScore(value, ref writer);
                }
                else if (type == RespType.Hash && withValues)
                {
                    writer.WriteBulk(value);
                }
            }
        }

        if (session.Tally == 0)
        {
            WriteScanHead(session, isPairs: false, ref writer);
        }

        return true;
    }

    // All digits of a whole number, as Redis writes it here but not elsewhere.
    private static void WriteScanScore(ReadOnlySpan<byte> value, ref RespWriter writer)
    {
        double score = SortedSetRange.ScoreOf(value);
        if (Math.Abs(score) <= long.MaxValue / 2 && score == Math.Truncate(score))
        {
            writer.WriteBulk((long)score);
            return;
        }

        writer.WriteBulk(SortedSetRange.Format(value, stackalloc byte[SortedSetRange.TextBytes]));
    }

    private static void WriteScanHead(RespSession session, bool isPairs, ref RespWriter writer)
    {
        writer.WriteArrayHeader(2);
        writer.WriteBulk(0);
        writer.WriteArrayHeader((int)session.Tally * (isPairs ? 2 : 1));
    }

    private static int WorkOf(KeyFilter? filter, ReadOnlySpan<byte> field) =>
        1 + (int)((filter?.BytesAfterStar ?? 0) * (long)field.Length / KeyScan.ComparisonsOfElement);
}
