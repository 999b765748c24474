using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Server.Buffers;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

// The meta commands mg, ms, md, ma, me.
//
// The two marks of an entry (EntryFields) correspond to memcached's "stale" and "token sent". A client that reads a stale entry, or one
// that will soon expire, wins (W) if the token was not sent yet. The read then marks the entry with "token sent". Replies to other clients
// show that mark (Z).
internal sealed unsafe partial class TextSession
{
    // The code, the length, and the maximum number of flags. One of them may be a key in base64.
    private const int MaxMetaLineBytes = 1024;

    private int _likelyMetaLineBytes = 7;

    private bool DispatchMeta(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        if (_resumeAt != 0)
        {
            _resumeAt = 0; // The long value has been written (I1).
            return true;
        }

        Span<byte> decoded = stackalloc byte[MemcachedReader.MaxKeyBytes];
        ReadOnlySpan<byte> key = DecodeKey(input, request, decoded);
        _entries.Counters.MetaCommands++;
        fixed (byte* bytes = key)
        {
            KeyRef keyRef = KeyOf(bytes, key.Length);
            switch (request.Command)
            {
                case MemcachedCommand.MetaGet:
                    return MetaGet(input, request, keyRef, output);
                case MemcachedCommand.MetaSet:
                    MetaSet(input, request, keyRef, output);
                    return true;
                case MemcachedCommand.MetaDelete:
                    MetaDelete(input, request, keyRef, output);
                    return true;
                case MemcachedCommand.MetaArithmetic:
                    MetaArithmetic(input, request, keyRef, output);
                    return true;
                default:
                    MetaDebug(input, request, keyRef, output);
                    return true;
            }
        }
    }

    private bool MetaGet(ReadOnlySpan<byte> input, in MemcachedRequest request, in KeyRef key, OutputBuffer output)
    {
        var seen = new SeenEntry { WasRead = (request.MetaFlags & (MemcachedMetaFlags.ReturnHit | MemcachedMetaFlags.ReturnLastAccess)) != 0 && _engine.WasRead(key) };
        if ((request.MetaFlags & (MemcachedMetaFlags.TimeToLive | MemcachedMetaFlags.Recache | MemcachedMetaFlags.NoUpdate | MemcachedMetaFlags.CompareVersion
            | MemcachedMetaFlags.ReturnLastAccess)) != 0)
        {
            return MetaGetUnusual(input, request, key, seen, output);
        }

        // The fast path: an entry without marks.
        Span<byte> room = output.Reserve(MaxMetaLineBytes + EntryCommands.LikelyValueBytes);
        int start = _likelyMetaLineBytes;
        int length = _engine.TryGetPlain(
            new BytesKey(key.Bytes, key.Length), key.Place, ref Unsafe.Add(ref MemoryMarshal.GetReference(room), start),
            room.Length - MaxMetaLineBytes, out ulong version, out long deadline);
        if (length < 0)
        {
            return MetaGetUnusual(input, request, key, seen, output);
        }

        CountMetaGet(request, key, isHit: true);
        seen.Info = EntryInfo.Plain(length, version, deadline);
        output.Advance(FinishMetaValue(input, request, key, seen, room, start));
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool MetaGetUnusual(
        ReadOnlySpan<byte> input, in MemcachedRequest request, in KeyRef key, SeenEntry seen, OutputBuffer output)
    {
        bool withValue = request.Has(MemcachedMetaFlags.ReturnValue);
        int valueBytes = EntryCommands.LikelyValueBytes;
        while (true)
        {
            int start = _likelyMetaLineBytes;
            Span<byte> room = output.Reserve(MaxMetaLineBytes + Math.Min(valueBytes, EntryCommands.LongValueBytes));
            bool isLong = withValue && valueBytes >= EntryCommands.LongValueBytes;
            ReadOutcome outcome = isLong
                ? HoldMetaValue(request, key, ref seen)
                : ReadMetaValue(request, key, room.Slice(start, room.Length - MaxMetaLineBytes), ref seen);
            if (_connection is { IsWaiting: true })
            {
                _entries.Counters.MetaCommands--; // Counted when it is done.
                return false;
            }

            if (outcome == ReadOutcome.TooShort)
            {
                valueBytes = seen.Info.ValueBytes;
                continue;
            }

            seen.IsCreated = false;
            seen.IsWon = false;
            if (request.Has(MemcachedMetaFlags.ReturnLastAccess))
            {
                seen.IdleSeconds = IdleSeconds(key, seen.Info, seen.WasRead);
            }

            seen.IsSame = request.Has(MemcachedMetaFlags.CompareVersion)
                && _entries.TokenOf(key.Place, seen.Info) == request.Version;
            WriteStatus status = outcome == ReadOutcome.Hit ? Settle(input, request, key, ref seen) : Vivify(input, request, key, ref seen);
            if (status is WriteStatus.VersionMismatch or WriteStatus.Exists)
            {
                _longValue.Release(); // Another writer has changed it since.
                continue;
            }

            if (status == WriteStatus.NotFound)
            {
                CountMetaGet(request, key, isHit: false);
                _entries.OnGetMiss(key);
                if (!request.Has(MemcachedMetaFlags.Quiet))
                {
                    WriteMetaReply(input, request, key, "EN"u8, output);
                }

                return true;
            }

            CountMetaGet(request, key, isHit: true);
            if (seen.IsSame)
            {
                _longValue.Release(); // The client has this value.
            }

            if (!_longValue.IsHeld)
            {
                output.Advance(FinishMetaValue(input, request, key, seen, room, start));
                return true;
            }

            int line = WriteMetaLine(input, request, key, seen, room);
            output.Advance(line);
            if (!_longValue.TryContinue(output, "\r\n"u8))
            {
                _resumeAt = request.LineBytes;
                return false;
            }

            return true;
        }
    }

    // Reads a value that is written as a whole. Without the flag v, the entry's properties suffice.
    private ReadOutcome ReadMetaValue(in MemcachedRequest request, in KeyRef key, Span<byte> destination, ref SeenEntry seen)
    {
        bool isUse = !request.Has(MemcachedMetaFlags.NoUpdate);
        if (request.Has(MemcachedMetaFlags.ReturnValue) && isUse)
        {
            return _engine.TryGet(key, destination, acceptStale: false, out seen.Info);
        }

        _engine.TryPin(key, PinTerm.Brief, out Pin pin, mostCopied: long.MaxValue, isUse);
        using (pin)
        {
            seen.Info = pin.Info;
            if (!pin.IsHeld)
            {
                return ReadOutcome.Miss;
            }

            _entries.CountCopied(pin.Info.ValueBytes / Resp.KeySpace.CheckedBytesOfCopied);
            if (!request.Has(MemcachedMetaFlags.ReturnValue))
            {
                return ReadOutcome.Hit;
            }

            return pin.Value.TryCopyTo(destination) ? ReadOutcome.Hit : ReadOutcome.TooShort;
        }
    }

    // Holds a value that is written as the client reads. Also returns Miss if the connection waits.
    private ReadOutcome HoldMetaValue(in MemcachedRequest request, in KeyRef key, ref SeenEntry seen)
    {
        PinStatus status = _longValue.TryHold(_engine, key, isUse: !request.Has(MemcachedMetaFlags.NoUpdate));
        seen.Info = _longValue.Info;
        return status == PinStatus.Pinned ? ReadOutcome.Hit : ReadOutcome.Miss;
    }

    private void CountMetaGet(in MemcachedRequest request, in KeyRef key, bool isHit)
    {
        _entries.NoteGet(key);
        _entries.Counters.Gets++;
        if (request.Has(MemcachedMetaFlags.TimeToLive))
        {
            _entries.Counters.Touches++;
            (isHit ? ref _entries.Counters.TouchHits : ref _entries.Counters.TouchMisses)++;
        }

        if (!request.Has(MemcachedMetaFlags.TimeToLive) || !isHit)
        {
            (isHit ? ref _entries.Counters.GetHits : ref _entries.Counters.GetMisses)++;
        }
    }

    // Makes the changes that a read causes: a new expiration, and the mark for the winner. Returns VersionMismatch if the entry has
    // changed since it was read.
    private WriteStatus Settle(ReadOnlySpan<byte> input, in MemcachedRequest request, in KeyRef key, ref SeenEntry seen)
    {
        EntryInfo info = seen.Info;
        seen.FormerDeadlineMs = info.DeadlineUnixMs;
        bool isAwaited = (info.Marks & EntryFields.Awaited) != 0;
        ResolvedExpiration? expiration = null;
        if ((request.MetaFlags & (MemcachedMetaFlags.TimeToLive | MemcachedMetaFlags.Recache)) != 0)
        {
            // In the order of the flags in the request.
            long deadline = info.DeadlineUnixMs;
            foreach (ReadOnlySpan<byte> flag in request.EnumerateArguments(input))
            {
                if (flag[0] == 'T')
                {
                    expiration = _entries.ExpirationOf(request.ExpirationSeconds);
                    deadline = expiration.Value.Deadline;
                }
                else if (flag[0] == 'R')
                {
                    ResolvedExpiration soon = _entries.ExpirationOf(request.RecacheSeconds);
                    seen.IsWon |= !isAwaited && deadline != long.MaxValue && !soon.IsNever && deadline < soon.Deadline;
                }
            }
        }

        seen.IsWon |= !isAwaited && (info.Marks & EntryFields.Stale) != 0;
        if (expiration is null && !seen.IsWon)
        {
            return WriteStatus.Stored;
        }

        EntryFields marks = info.Marks | (seen.IsWon ? EntryFields.Awaited : 0);
        ResolvedExpiration kept = expiration ?? _entries.ExpirationOf(info);
        WriteStatus status = _engine.Touch(key, kept, marks, info.Version, out ulong version, out int longBytes);
        _entries.CountCopied(longBytes);
        if (status == WriteStatus.Stored)
        {
            if (expiration is { } changed)
            {
                _entries.NotifyTouched(key, changed);
            }

            // The reply shows the marks from before the change.
            seen.Info = new EntryInfo(
                info.Type, info.ValueBytes, info.Flags, version == 0 ? info.Version : version, kept.EarliestDeadline, 0, long.MaxValue)
            {
                Marks = info.Marks,
                ChosenVersion = info.ChosenVersion,
            };
        }

        return status switch
        {
            WriteStatus.NotFound => WriteStatus.VersionMismatch,
            WriteStatus.VersionMismatch => status,
            _ => WriteStatus.Stored, // Without room for the change, the value is still a hit.
        };
    }

    // With the flag N, mg creates a missing entry, and its client is the one that will create the value. Returns NotFound without N, or
    // Exists if the entry exists by now.
    private WriteStatus Vivify(ReadOnlySpan<byte> input, in MemcachedRequest request, in KeyRef key, ref SeenEntry seen)
    {
        if (!request.Has(MemcachedMetaFlags.Vivify))
        {
            return WriteStatus.NotFound;
        }

        ResolvedExpiration expiration = ExpirationOfNew(input, request);

        var content = new EntryContent
        {
            Type = EntryType.Value, Expiration = expiration, Marks = EntryFields.Awaited, ChosenVersion = _entries.ChosenVersionOf(request),
        };
        _entries.OnMiss(key, isRead: true);
        WriteStatus status = _entries.Write(key, content, WriteCondition.IfAbsent, 0, out ulong version);

        seen.Info = new EntryInfo(EntryType.Value, 0, 0, version, expiration.Deadline, 0, long.MaxValue) { ChosenVersion = content.ChosenVersion };
        seen.FormerDeadlineMs = long.MaxValue;
        seen.IsCreated = true;
        seen.IsWon = true;
        return status is WriteStatus.Stored or WriteStatus.Exists ? status : WriteStatus.NotFound;
    }

    // Writes the line, and moves the value, which is at `start`, behind it. Returns the total length.
    private int FinishMetaValue(
        ReadOnlySpan<byte> input, in MemcachedRequest request, in KeyRef key, in SeenEntry seen, Span<byte> room, int start)
    {
        Span<byte> line = stackalloc byte[MaxMetaLineBytes];
        int length = WriteMetaLine(input, request, key, seen, line);
        if (seen.IsSame || !request.Has(MemcachedMetaFlags.ReturnValue))
        {
            line[..length].CopyTo(room);
            return length;
        }

        int valueLength = seen.Info.ValueBytes;
        if (length != start)
        {
            room.Slice(start, valueLength).CopyTo(room[length..]);
            _likelyMetaLineBytes = Math.Min(length, MaxMetaLineBytes / 2);
        }

        line[..length].CopyTo(room);
        "\r\n"u8.CopyTo(room[(length + valueLength)..]);
        return length + valueLength + 2;
    }

    // Writes the line of a hit, including its end.
    private int WriteMetaLine(
        ReadOnlySpan<byte> input, in MemcachedRequest request, in KeyRef key, in SeenEntry seen, Span<byte> room)
    {
        var line = new MemcachedReplyWriter(room);
        ref readonly EntryInfo info = ref seen.Info;
        if (!seen.IsSame && request.Has(MemcachedMetaFlags.ReturnValue))
        {
            line.BeginMetaValue(info.ValueBytes);
        }
        else
        {
            line.BeginMeta(MemcachedMetaCode.Done);
        }

        // The reply's flags are in the order of the request. Flag t shows the effect of T, and of N on a new entry, only if it follows
        // them.
        bool isTouched = !seen.IsCreated && !request.Has(MemcachedMetaFlags.TimeToLive);
        foreach (ReadOnlySpan<byte> flag in request.EnumerateArguments(input))
        {
            switch (flag[0])
            {
                case (byte)'c':
                    line.WriteFlag('c', _entries.TokenOf(key.Place, info));
                    break;
                case (byte)'f':
                    line.WriteFlag('f', (ulong)info.Flags);
                    break;
                case (byte)'s':
                    line.WriteFlag('s', (ulong)info.ValueBytes);
                    break;
                case (byte)'t':
                    line.WriteFlag('t', SecondsLeft(isTouched ? info.DeadlineUnixMs : seen.FormerDeadlineMs));
                    break;
                case (byte)'T':
                case (byte)'N' when seen.IsCreated:
                    isTouched = true;
                    break;
                case (byte)'l':
                    line.WriteFlag('l', seen.IdleSeconds);
                    break;
                case (byte)'h':
                    line.WriteFlag('h', seen.WasRead ? 1L : 0L);
                    break;
                case (byte)'O':
                    line.WriteFlag('O', request.Opaque.Of(input));
                    break;
                case (byte)'k':
                    line.WriteKeyFlag(new ReadOnlySpan<byte>(key.Bytes, key.Length), request.IsBase64Key);
                    break;
            }
        }

        if ((info.Marks & EntryFields.Awaited) != 0)
        {
            line.WriteFlag('Z');
        }

        if ((info.Marks & EntryFields.Stale) != 0)
        {
            line.WriteFlag('X');
        }

        if (seen.IsWon)
        {
            line.WriteFlag('W');
        }

        line.WriteLineEnd();
        return line.PendingBytes;
    }

    private void MetaSet(ReadOnlySpan<byte> input, in MemcachedRequest request, in KeyRef key, OutputBuffer output)
    {
        _entries.Counters.Sets++;
        _entries.NoteGet(key);
        if (_entries.IsTooLarge(key.Length, request.Value.Length, request.ClientFlags))
        {
            _entries.RefuseTooLarge(key, removesOld: true);
            Reply(request, output, ErrorText(MemcachedError.ObjectTooLarge));
            return;
        }

        ReadOnlySpan<byte> value = request.Value.Of(input);
        ulong version = 0;
        ulong chosen = _entries.ChosenVersionOf(request);
        WriteStatus status;
        int size = value.Length;
        if (request.Mode is (byte)'A' or (byte)'P')
        {
            status = JoinMeta(key, request, value, chosen, ref version);
            if (status == WriteStatus.Stored && request.Has(MemcachedMetaFlags.ReturnSize) && _engine.TryGetInfo(key, acceptStale: false, out EntryInfo joined))
            {
                size = joined.ValueBytes;
            }
        }
        else if (request is { Mode: 0 or (byte)'S', ClientFlags: 0, ExpirationSeconds: 0 }
            && !request.Has(MemcachedMetaFlags.CompareVersion)
            && !request.Has(MemcachedMetaFlags.ReturnVersion)
            && chosen == 0
            && _entries.TryReplacePlain(key, value))
        {
            status = WriteStatus.Stored;
        }
        else
        {
            status = WriteMeta(key, request, value, chosen, out version);
        }

        version = chosen != 0 ? chosen : _entries.TokenOf(key.Place, version);
        _entries.NoteStore(key, CommandOf(request), status, value.Length, request.ExpirationSeconds);
        switch (status)
        {
            case WriteStatus.Stored when request.Has(MemcachedMetaFlags.Quiet):
                break;
            case WriteStatus.Stored:
                WriteMetaReply(input, request, key, "HD"u8, output, version, size);
                break;
            case WriteStatus.VersionMismatch:
                WriteMetaReply(input, request, key, "EX"u8, output, size: size);
                break;
            case WriteStatus.NotFound when request.Has(MemcachedMetaFlags.CompareVersion) && request.Mode is not ((byte)'A' or (byte)'P'):
                WriteMetaReply(input, request, key, "NF"u8, output, size: size);
                break;
            case WriteStatus.NotFound or WriteStatus.Exists:
                WriteMetaReply(input, request, key, "NS"u8, output, size: size);
                break;
            default:
                output.Write(ErrorText(MemcachedError.OutOfMemoryStoring));
                break;
        }
    }

    private static MemcachedCommand CommandOf(in MemcachedRequest request) => request.Mode switch
    {
        (byte)'E' => MemcachedCommand.Add,
        (byte)'A' => MemcachedCommand.Append,
        (byte)'P' => MemcachedCommand.Prepend,
        (byte)'R' when !request.Has(MemcachedMetaFlags.CompareVersion) => MemcachedCommand.Replace,
        _ => request.Has(MemcachedMetaFlags.CompareVersion) ? MemcachedCommand.Cas : MemcachedCommand.Set,
    };

    // With the flag N, a missing value is created from the addition.
    private WriteStatus JoinMeta(in KeyRef key, in MemcachedRequest request, ReadOnlySpan<byte> value, ulong chosen, ref ulong version)
    {
        bool isPrefix = request.Mode == 'P';
        ulong expected = request.Has(MemcachedMetaFlags.CompareVersion) ? _entries.VersionOf(key, request.Version) : 0;
        WriteStatus status;
        do
        {
            status = expected == 0 && chosen == 0 && !request.Has(MemcachedMetaFlags.ReturnVersion)
                ? _entries.Join(key, value, isPrefix)
                : _entries.Join(key, value, isPrefix, expected, out version, chosen);
            if (status != WriteStatus.NotFound || !request.Has(MemcachedMetaFlags.Vivify)
                || _engine.TryGetInfo(key, acceptStale: false, out _)) // The result would be too large.
            {
                break;
            }

            var content = new EntryContent
            {
                Type = EntryType.Value, Flags = request.ClientFlags, Expiration = _entries.ExpirationOf(request.VivifySeconds), First = value,
                ChosenVersion = chosen,
            };
            status = _entries.Write(key, content, WriteCondition.IfAbsent, 0, out version);
        }
        while (status == WriteStatus.Exists);
        return status;
    }

    private WriteStatus WriteMeta(in KeyRef key, in MemcachedRequest request, ReadOnlySpan<byte> value, ulong chosen, out ulong version)
    {
        var content = new EntryContent
        {
            Type = EntryType.Value,
            Flags = request.ClientFlags,
            Expiration = _entries.ExpirationOf(request.ExpirationSeconds),
            First = value,
            ChosenVersion = chosen,
        };
        if (!request.Has(MemcachedMetaFlags.CompareVersion) || request.Mode == (byte)'E')
        {
            WriteCondition condition = request.Mode switch
            {
                (byte)'E' => WriteCondition.IfAbsent,
                (byte)'R' => WriteCondition.IfPresent,
                _ => WriteCondition.Always,
            };
            return _entries.Write(key, content, condition, 0, out version);
        }

        WriteCondition comparison = _sessions.Options.TellsVersions ? WriteCondition.IfVersion : WriteCondition.IfPresent;
        WriteStatus status = _entries.Write(key, content, comparison, _entries.VersionOf(key, request.Version), out version);

        // With the flag I, a value created from an older version is stored as stale, and keeps the expiration of the entry.
        while (status == WriteStatus.VersionMismatch && request.Has(MemcachedMetaFlags.Invalidate) && request.Version != 0
            && _engine.TryGetInfo(key, acceptStale: false, out EntryInfo info) && request.Version < _entries.TokenOf(key.Place, info))
        {
            content.Expiration = _entries.ExpirationOf(info);
            content.Marks = EntryFields.Stale | (info.Marks & EntryFields.Awaited);
            status = _entries.Write(key, content, WriteCondition.IfVersion, info.Version, out version);
        }

        _entries.CountCas(status);
        return status;
    }

    private void MetaDelete(ReadOnlySpan<byte> input, in MemcachedRequest request, in KeyRef key, OutputBuffer output)
    {
        // Other commands take the version 0 for any version. md compares it, and no entry has it.
        bool isOfNone = request.Version == 0 && _sessions.Options.TellsVersions;
        ulong expected = !request.Has(MemcachedMetaFlags.CompareVersion) ? 0 : isOfNone ? ulong.MaxValue : _entries.VersionOf(key, request.Version);
        WriteStatus status;
        _entries.CountGone(key);
        if (request.Has(MemcachedMetaFlags.RemoveValue))
        {
            status = RemoveValue(request, key, expected);
        }
        else if (request.Has(MemcachedMetaFlags.Invalidate))
        {
            status = Invalidate(request, key, expected);
        }
        else
        {
            status = _entries.RemoveNoted(key, expected, "md");
        }

        _entries.CountDelete(status);
        if (status == WriteStatus.Stored)
        {
            if (!request.Has(MemcachedMetaFlags.Quiet))
            {
                WriteMetaReply(input, request, key, "HD"u8, output);
            }

            return;
        }

        WriteMetaReply(input, request, key, status == WriteStatus.VersionMismatch ? "EX"u8 : "NF"u8, output);
    }

    // Replaces the value by an empty one. With the flag I, that one is stale.
    private WriteStatus RemoveValue(in MemcachedRequest request, in KeyRef key, ulong expected)
    {
        var content = new EntryContent
        {
            Type = EntryType.Value,
            Flags = request.ClientFlags,
            Expiration = _entries.ExpirationOf(request.ExpirationSeconds),
            Marks = request.Has(MemcachedMetaFlags.Invalidate) ? EntryFields.Stale : EntryFields.None,
            ChosenVersion = _entries.ChosenVersionOf(request),
        };
        return expected == 0
            ? _entries.Write(key, content, WriteCondition.IfPresent, 0, out _)
            : _entries.Write(key, content, WriteCondition.IfVersion, expected, out _);
    }

    // Marks the entry as stale, without a winner. The next client that reads it wins.
    private WriteStatus Invalidate(in MemcachedRequest request, in KeyRef key, ulong expected)
    {
        while (true)
        {
            if (!_engine.TryGetInfo(key, acceptStale: false, out EntryInfo info))
            {
                _entries.OnMiss(key, isRead: false);
                return WriteStatus.NotFound;
            }

            if (expected != 0 && info.Version != expected)
            {
                return WriteStatus.VersionMismatch;
            }

            ResolvedExpiration expiration = request.Has(MemcachedMetaFlags.TimeToLive)
                ? _entries.ExpirationOf(request.ExpirationSeconds)
                : _entries.ExpirationOf(info);
            WriteStatus status = _engine.Touch(
                key, expiration, EntryFields.Stale, info.Version, out _, out int longBytes, _entries.ChosenVersionOf(request));
            _entries.CountCopied(longBytes);
            if (status is not (WriteStatus.VersionMismatch or WriteStatus.NotFound))
            {
                if (status != WriteStatus.Stored)
                {
                    _entries.Remove(key); // No room for the mark, so the entry is removed.
                }
                else if (request.Has(MemcachedMetaFlags.TimeToLive))
                {
                    _entries.NotifyTouched(key, expiration);
                }

                return WriteStatus.Stored;
            }
        }
    }

    private void MetaArithmetic(ReadOnlySpan<byte> input, in MemcachedRequest request, in KeyRef key, OutputBuffer output)
    {
        var arithmetic = new Arithmetic(
            request.Delta, request.Mode != 'D', request.Has(MemcachedMetaFlags.CompareVersion) ? _entries.VersionOf(key, request.Version) : 0,
            request.Has(MemcachedMetaFlags.TimeToLive) ? _entries.ExpirationOf(request.ExpirationSeconds) : null, _entries.ChosenVersionOf(request));
        WriteStatus status;
        CountedNumber counted;
        bool isCreated = false;
        do
        {
            status = _entries.Add(key, arithmetic, out counted);
            if (status != WriteStatus.NotFound)
            {
                break;
            }

            if (!request.Has(MemcachedMetaFlags.Vivify))
            {
                _entries.CountArithmeticMiss(arithmetic.IsIncrement);
                break;
            }

            counted.Number = request.InitialValue;
            counted.FormerDeadlineMs = long.MaxValue;
            status = _entries.CreateNumber(key, counted.Number, ExpirationOfNew(input, request), out counted.Info, arithmetic.ChosenVersion);
            isCreated = status == WriteStatus.Stored;
        }
        while (status == WriteStatus.Exists);

        switch (status)
        {
            case WriteStatus.Stored when request.Has(MemcachedMetaFlags.Quiet):
                break;
            case WriteStatus.Stored:
                WriteNumberReply(input, request, key, counted, isCreated, output);
                break;
            case WriteStatus.NotFound:
                WriteMetaReply(input, request, key, "NF"u8, output);
                break;
            case WriteStatus.Exists:
                WriteMetaReply(input, request, key, "EX"u8, output);
                break;
            case WriteStatus.NotANumber:
                output.Write(ErrorText(MemcachedError.NotANumber));
                break;
            default:
                output.Write(ErrorText(MemcachedError.OutOfMemory));
                break;
        }
    }

    private void WriteNumberReply(
        ReadOnlySpan<byte> input, in MemcachedRequest request, in KeyRef key, in CountedNumber counted, bool isCreated, OutputBuffer output)
    {
        Span<byte> digits = stackalloc byte[DecimalText.MaxUInt64Bytes];
        digits = digits[..DecimalText.Format(counted.Number, digits)];
        var line = new MemcachedReplyWriter(output.Reserve(MaxMetaLineBytes));
        bool withValue = request.Has(MemcachedMetaFlags.ReturnValue);
        if (withValue)
        {
            line.BeginMetaValue(digits.Length);
        }
        else
        {
            line.BeginMeta(MemcachedMetaCode.Done);
        }

        // As with mg: t shows the effect of T, and of N on a new number, only if it follows them.
        bool isTouched = !isCreated && !request.Has(MemcachedMetaFlags.TimeToLive);
        foreach (ReadOnlySpan<byte> flag in request.EnumerateArguments(input))
        {
            switch (flag[0])
            {
                case (byte)'c':
                    line.WriteFlag('c', _entries.TokenOf(key.Place, counted.Info));
                    break;
                case (byte)'t':
                    line.WriteFlag('t', SecondsLeft(isTouched ? counted.Info.DeadlineUnixMs : counted.FormerDeadlineMs));
                    break;
                case (byte)'T':
                case (byte)'N' when isCreated:
                    isTouched = true;
                    break;
                case (byte)'O':
                    line.WriteFlag('O', request.Opaque.Of(input));
                    break;
                case (byte)'k':
                    line.WriteKeyFlag(new ReadOnlySpan<byte>(key.Bytes, key.Length), request.IsBase64Key);
                    break;
            }
        }

        line.WriteLineEnd();
        if (withValue)
        {
            line.WriteData(digits);
        }

        output.Advance(line.PendingBytes);
    }

    private void MetaDebug(ReadOnlySpan<byte> input, in MemcachedRequest request, in KeyRef key, OutputBuffer output)
    {
        if (!_engine.TryGetInfo(key, acceptStale: false, out EntryInfo info))
        {
            output.Write("EN\r\n"u8);
            return;
        }

        var line = new MemcachedReplyWriter(output.Reserve(MaxMetaLineBytes));
        line.WriteRaw("ME "u8);
        line.WriteRaw(request.Key.Of(input));
        line.WriteRaw(" exp="u8);
        line.WriteDigits(SecondsLeft(info.DeadlineUnixMs));
        bool wasRead = _engine.WasRead(key);
        line.WriteRaw(" la="u8);
        line.WriteDigits(IdleSeconds(key, info, wasRead));
        line.WriteRaw(" cas="u8);
        line.WriteDigits((long)_entries.TokenOf(key.Place, info));
        line.WriteRaw(wasRead ? " fetch=yes cls=1 size="u8 : " fetch=no cls=1 size="u8);
        line.WriteDigits(EntryCommands.ItemBytesOf(key.Length, info));
        line.WriteLineEnd();
        output.Advance(line.PendingBytes);
    }

    // Writes a reply without a value: its code, and the flags that such a reply may have.
    private static void WriteMetaReply(
        ReadOnlySpan<byte> input, in MemcachedRequest request, in KeyRef key, ReadOnlySpan<byte> code, OutputBuffer output,
        ulong version = 0, int size = 0)
    {
        var line = new MemcachedReplyWriter(output.Reserve(MaxMetaLineBytes));
        line.WriteRaw(code);
        foreach (ReadOnlySpan<byte> flag in request.EnumerateArguments(input))
        {
            switch (flag[0])
            {
                case (byte)'O':
                    line.WriteFlag('O', request.Opaque.Of(input));
                    break;
                case (byte)'k':
                    line.WriteKeyFlag(new ReadOnlySpan<byte>(key.Bytes, key.Length), request.IsBase64Key);
                    break;
                case (byte)'c' when request.Command == MemcachedCommand.MetaSet:
                    line.WriteFlag('c', version);
                    break;
                case (byte)'s' when request.Command == MemcachedCommand.MetaSet:
                    line.WriteFlag('s', (ulong)size);
                    break;
            }
        }

        line.WriteLineEnd();
        output.Advance(line.PendingBytes);
    }

    private long IdleSeconds(in KeyRef key, in EntryInfo info, bool wasRead) =>
        info.Version == 0 ? 0 : _sessions.WriteTimes.IdleSeconds(key.Place.Partition, info.Version, wasRead);

    private long SecondsLeft(long deadlineMs) =>
        deadlineMs == long.MaxValue ? -1 : Math.Max(0, (deadlineMs - _engine.Clock.NowMs() + 999) / 1000);

    // Returns the expiration of an entry that mg or ma creates: the last of the flags N and T.
    private ResolvedExpiration ExpirationOfNew(ReadOnlySpan<byte> input, in MemcachedRequest request)
    {
        var expiration = ResolvedExpiration.Never;
        foreach (ReadOnlySpan<byte> flag in request.EnumerateArguments(input))
        {
            expiration = flag[0] switch
            {
                (byte)'N' => _entries.ExpirationOf(request.VivifySeconds),
                (byte)'T' => _entries.ExpirationOf(request.ExpirationSeconds),
                _ => expiration,
            };
        }

        return expiration;
    }

    // An entry that mg found or created.
    private struct SeenEntry
    {
        public EntryInfo Info;
        public long FormerDeadlineMs;
        public bool WasRead;
        public bool IsCreated;
        public bool IsWon;
        public long IdleSeconds;
        public bool IsSame; // The client has this version already.
    }
}
