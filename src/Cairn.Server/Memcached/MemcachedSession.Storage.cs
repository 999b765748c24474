using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Protocol;
using Cairn.Protocol.Memcached;
using Cairn.Server.Buffers;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

// The commands set, add, replace, append, prepend, cas, delete, incr, decr and touch.
internal sealed unsafe partial class MemcachedSession
{
    // The longest number, and room for padding by clients.
    private const int NumberBufferBytes = 128;

    private void Store(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        _counters.Sets++;
        if (IsTooLarge(request))
        {
            RefuseTooLarge(input, request, output);
            return;
        }

        if (_sessions.Prefixes.IsOn)
        {
            _sessions.Prefixes.CountSet(request.Key.Of(input));
        }

        ReadOnlySpan<byte> value = request.Value.Of(input);
        fixed (byte* key = request.Key.Of(input))
        {
            KeyRef keyRef = KeyOf(key, request.Key.Length);
            if (request.Command == MemcachedCommand.Set
                && request.ClientFlags == 0
                && request.ExpirationSeconds == 0
                && _engine.TryReplacePlain(
                    new BytesKey(key, request.Key.Length), keyRef.Place, ref MemoryMarshal.GetReference(value), value.Length))
            {
                NotifySet(keyRef, ResolvedExpiration.Never);
                Reply(request, output, "STORED\r\n"u8);
                return;
            }

            WriteStatus status = Store(keyRef, request, value);
            ReplyStored(request, status, output);
        }
    }

    private WriteStatus Store(in KeyRef key, in MemcachedRequest request, ReadOnlySpan<byte> value)
    {
        if (request.Command is MemcachedCommand.Append or MemcachedCommand.Prepend)
        {
            return Join(key, value, isPrefix: request.Command == MemcachedCommand.Prepend);
        }

        var content = new EntryContent
        {
            Type = EntryType.Value,
            Flags = request.ClientFlags,
            Expiration = ExpirationOf(request.ExpirationSeconds),
            First = value,
        };
        WriteCondition condition = request.Command switch
        {
            MemcachedCommand.Add => WriteCondition.IfAbsent,
            MemcachedCommand.Replace => WriteCondition.IfPresent,
            MemcachedCommand.Cas => WriteCondition.IfVersion,
            _ => WriteCondition.Always,
        };
        WriteStatus status = _events.Write(_engine, key, content, condition, request.Version, out _);
        if (status == WriteStatus.Stored)
        {
            NotifySet(key, content.Expiration);
        }

        if (request.Command == MemcachedCommand.Cas)
        {
            CountCas(status);
        }

        return status;
    }

    private WriteStatus Join(in KeyRef key, ReadOnlySpan<byte> addition, bool isPrefix)
    {
        bool isFound = _engine.TryGetInfo(key, acceptStale: false, out EntryInfo info);
        if (isFound && IsTooLarge(key.Length, (long)info.ValueBytes + addition.Length, info.Flags))
        {
            return WriteStatus.NotFound; // NOT_STORED, as in memcached.
        }

        WriteStatus status = _engine.Join(key, addition, isPrefix);
        if (status == WriteStatus.Stored)
        {
            NotifyString(key, "append"u8);
        }
        else if (status == WriteStatus.NotFound)
        {
            OnMiss(key, isRead: false);
        }

        return status;
    }

    private void CountCas(WriteStatus status)
    {
        switch (status)
        {
            case WriteStatus.Stored:
                _counters.CasHits++;
                break;
            case WriteStatus.VersionMismatch:
                _counters.CasMismatches++;
                break;
            default:
                _counters.CasMisses++;
                break;
        }
    }

    private void ReplyStored(in MemcachedRequest request, WriteStatus status, OutputBuffer output)
    {
        switch (status)
        {
            case WriteStatus.Stored:
                Reply(request, output, "STORED\r\n"u8);
                break;

            case WriteStatus.VersionMismatch:
                Reply(request, output, "EXISTS\r\n"u8);
                break;

            case WriteStatus.NotFound when request.Command == MemcachedCommand.Cas:
                Reply(request, output, "NOT_FOUND\r\n"u8);
                break;

            case WriteStatus.NotFound or WriteStatus.Exists or WriteStatus.TooLarge:
                Reply(request, output, "NOT_STORED\r\n"u8);
                break;

            default:
                _counters.NoMemory++;
                Reply(request, output, ErrorText(MemcachedError.OutOfMemoryStoring));
                break;
        }
    }

    // Removes the old value, so that no client takes it for the new one. Only for commands that would have replaced it in any case.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void RefuseTooLarge(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        _counters.TooLarge++;
        if (request.Command is MemcachedCommand.Set or MemcachedCommand.MetaSet)
        {
            Span<byte> decoded = stackalloc byte[MemcachedReader.MaxKeyBytes];
            ReadOnlySpan<byte> name = DecodeKey(input, request, decoded);
            fixed (byte* key = name)
            {
                Remove(KeyOf(key, name.Length));
            }
        }

        Reply(request, output, ErrorText(MemcachedError.ObjectTooLarge));
    }

    private void Delete(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        if (_sessions.Prefixes.IsOn)
        {
            _sessions.Prefixes.CountDelete(request.Key.Of(input));
        }

        fixed (byte* key = request.Key.Of(input))
        {
            KeyRef keyRef = KeyOf(key, request.Key.Length);
            CountGone(keyRef);
            if (Remove(keyRef) == WriteStatus.Stored)
            {
                _counters.DeleteHits++;
                Reply(request, output, "DELETED\r\n"u8);
            }
            else
            {
                _counters.DeleteMisses++;
                Reply(request, output, "NOT_FOUND\r\n"u8);
            }
        }
    }

    private WriteStatus Remove(in KeyRef key, ulong expectedVersion = 0)
    {
        WriteStatus status = _engine.Remove(key, expectedVersion == 0 ? WriteCondition.Always : WriteCondition.IfVersion, expectedVersion);
        if (status == WriteStatus.Stored)
        {
            NotifyDeleted(key);
        }

        return status;
    }

    private WriteStatus Touch(in KeyRef key, in ResolvedExpiration expiration)
    {
        WriteStatus status = _engine.Touch(key, expiration);
        if (status == WriteStatus.Stored)
        {
            NotifyTouched(key, expiration);
        }
        else if (status == WriteStatus.NotFound)
        {
            OnMiss(key, isRead: false);
        }

        return status;
    }

    private void Touch(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        _counters.Touches++;
        fixed (byte* key = request.Key.Of(input))
        {
            KeyRef keyRef = KeyOf(key, request.Key.Length);
            WriteStatus status = Touch(keyRef, ExpirationOf(request.ExpirationSeconds));
            switch (status)
            {
                case WriteStatus.Stored:
                    _counters.TouchHits++;
                    Reply(request, output, "TOUCHED\r\n"u8);
                    break;

                case WriteStatus.NotFound:
                    _counters.TouchMisses++;
                    CountGone(keyRef);
                    Reply(request, output, "NOT_FOUND\r\n"u8);
                    break;

                default:
                    Reply(request, output, ErrorText(MemcachedError.OutOfMemory));
                    break;
            }
        }
    }

    private void Count(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        bool isIncrement = request.Command == MemcachedCommand.Incr;
        fixed (byte* key = request.Key.Of(input))
        {
            WriteStatus status = Add(KeyOf(key, request.Key.Length), request.Delta, isIncrement, 0, null, out ulong number, out _, out _);
            switch (status)
            {
                case WriteStatus.Stored when request.IsNoReply:
                    break;

                case WriteStatus.Stored:
                    Span<byte> room = output.Reserve(DecimalText.MaxUInt64Bytes + 2);
                    int length = DecimalText.Format(number, room);
                    "\r\n"u8.CopyTo(room[length..]);
                    output.Advance(length + 2);
                    break;

                case WriteStatus.NotFound:
                    Reply(request, output, "NOT_FOUND\r\n"u8);
                    break;

                case WriteStatus.NotANumber:
                    Reply(request, output, ErrorText(MemcachedError.NotANumber));
                    break;

                default:
                    Reply(request, output, ErrorText(MemcachedError.OutOfMemory));
                    break;
            }
        }
    }

    // The sum wraps at 64 bits; the difference ends at 0. If the number is shorter than the value, spaces follow it, as in memcached,
    // which counts in place.
    private WriteStatus Add(
        in KeyRef key, ulong delta, bool isIncrement, ulong expectedVersion, ResolvedExpiration? expiration, out ulong number,
        out EntryInfo info, out long formerDeadlineMs)
    {
        Span<byte> text = stackalloc byte[NumberBufferBytes];
        number = 0;
        while (true)
        {
            byte[]? rented = null;
            ReadOutcome outcome = _engine.TryGet(key, text, acceptStale: false, out info);
            if (outcome == ReadOutcome.TooShort)
            {
                rented = ArrayPool<byte>.Shared.Rent(info.ValueBytes);
                outcome = _engine.TryGet(key, rented, acceptStale: false, out info);
            }

            formerDeadlineMs = info.DeadlineUnixMs;
            WriteStatus status = outcome switch
            {
                ReadOutcome.Miss => WriteStatus.NotFound,
                ReadOutcome.TooShort => WriteStatus.VersionMismatch, // It has just become longer.
                _ when expectedVersion != 0 && info.Version != expectedVersion => WriteStatus.Exists,
                _ => Add(key, rented ?? text, delta, isIncrement, expiration, ref number, ref info),
            };
            if (rented is not null)
            {
                ArrayPool<byte>.Shared.Return(rented);
            }

            if (status == WriteStatus.NotFound)
            {
                CountGone(key);
                OnMiss(key, isRead: false);
            }

            if (status != WriteStatus.VersionMismatch)
            {
                CountArithmetic(status, isIncrement);
                return status;
            }
        }
    }

    private WriteStatus Add(
        in KeyRef key, Span<byte> value, ulong delta, bool isIncrement, ResolvedExpiration? expiration, ref ulong number, ref EntryInfo info)
    {
        Span<byte> text = value[..info.ValueBytes];
        if (!MemcachedNumber.TryParseUInt64(text, out ulong old))
        {
            return WriteStatus.NotANumber;
        }

        number = isIncrement ? unchecked(old + delta) : old - Math.Min(old, delta);
        Span<byte> digits = stackalloc byte[DecimalText.MaxUInt64Bytes];
        digits = digits[..DecimalText.Format(number, digits)];
        ReadOnlySpan<byte> result = digits;
        if (digits.Length < text.Length)
        {
            digits.CopyTo(text);
            text[digits.Length..].Fill((byte)' ');
            result = text;
        }

        WriteStatus status = _engine.Rewrite(key, result, expiration, info.Version, out ulong version);
        if (status == WriteStatus.Stored)
        {
            info = new EntryInfo(
                info.Type, result.Length, info.Flags, version, expiration?.EarliestDeadline ?? info.DeadlineUnixMs, 0, long.MaxValue);
            NotifyString(key, "incrby"u8);
            if (expiration is { } changed)
            {
                NotifyTouched(key, changed);
            }
        }

        // The entry was removed since. The caller tries again.
        return status == WriteStatus.NotFound ? WriteStatus.VersionMismatch : status;
    }

    private void CountArithmetic(WriteStatus status, bool isIncrement)
    {
        if (status == WriteStatus.Stored)
        {
            (isIncrement ? ref _counters.IncrHits : ref _counters.DecrHits)++;
        }
        else if (status == WriteStatus.NotFound)
        {
            (isIncrement ? ref _counters.IncrMisses : ref _counters.DecrMisses)++;
        }
    }

    private static ReadOnlySpan<byte> DecodeKey(ReadOnlySpan<byte> input, in MemcachedRequest request, Span<byte> buffer)
    {
        if (!request.IsBase64Key)
        {
            return request.Key.Of(input);
        }

        request.TryDecodeKey(input, buffer, out int length);
        return buffer[..length];
    }
}
