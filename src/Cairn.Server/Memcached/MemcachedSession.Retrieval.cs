using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Protocol;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

// get, gets, gat, gats.
//
// A value is copied once, from the store to its place in the output. The line before it depends on the value's length and version, which
// are known only after the copy. So the line is assumed to be as long as in the previous reply. In the rare other case, the value is
// moved.
internal sealed unsafe partial class MemcachedSession
{
    // The number of keys of one request whose memory is fetched together.
    private const int BatchKeys = 16;

    // The number of keys of one request that are looked up before other connections are served. Misses take no room in the output, so a
    // full output alone does not limit the work.
    private const int KeysPerTurn = 1024;

    // Values of this length or more are pinned, and copied as the client reads.
    private const int LongValueBytes = 64 << 10;
    private const int PieceBytes = 16 << 10;
    private const int LikelyValueBytes = 1 << 10;

    // " FLAGS BYTES VERSION" and the ends of both lines.
    private const int MaxTailBytes = 1 + 10 + 1 + 10 + 1 + 20 + 2 + 2;

    private int _keysOfTurn;
    private int _likelyTailBytes = 7;
    private HeldValue _held; // I2
    private int _heldOffset;

    private enum ValueResult
    {
        Written,
        Miss,

        /// <summary>The line is written. The value follows as the client reads.</summary>
        Begun,

        /// <summary>Nothing is written. The connection waits for a hazard cell, and then looks up the key again.</summary>
        Waiting,
    }

    private bool Get(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        fixed (byte* bytes = input)
        {
            if (request.ArgumentCount == 1 && request.Command <= MemcachedCommand.Gets && _resumeAt == 0)
            {
                bool withVersion = request.Command == MemcachedCommand.Gets;
                byte* key = bytes + request.Key.Offset;
                KeyPlacement place = _isPlaced ? _place : _engine.Memory.Place(_engine.Memory.HashKey(key, request.Key.Length, 0));
                ValueResult result = WriteValue(key, request.Key.Length, place, withVersion, output);
                if (result == ValueResult.Waiting)
                {
                    return false;
                }

                CountGet(key, request.Key.Length, result);
                if (result == ValueResult.Begun)
                {
                    _resumeAt = request.Arguments.End;
                    if (!TryContinueValue(output))
                    {
                        return false;
                    }
                }

                output.Write("END\r\n"u8);
                _resumeAt = 0;
                return true;
            }

            return GetMany(bytes, request, output);
        }
    }

    private bool GetMany(byte* bytes, in MemcachedRequest request, OutputBuffer output)
    {
        KeyRun* keys = stackalloc KeyRun[BatchKeys];
        bool withVersion = request.Command is MemcachedCommand.Gets or MemcachedCommand.Gats;
        int position = _resumeAt == 0 ? request.Arguments.Offset : _resumeAt;
        int end = request.Arguments.End;
        while (true)
        {
            int count = ReadKeys(bytes, ref position, end, keys);
            if (count == 0)
            {
                break;
            }

            for (int i = 0; i < count; i++)
            {
                if (output.IsFull || ++_keysOfTurn > KeysPerTurn)
                {
                    HasUnfinishedRequest = !output.IsFull; // With room in the output, no event would resume the connection.
                    _resumeAt = keys[i].Offset;
                    return false;
                }

                byte* key = bytes + keys[i].Offset;
                ValueResult result = request.Command >= MemcachedCommand.Gat
                    ? TouchAndWrite(key, keys[i].Length, keys[i].Place, request.ExpirationSeconds, withVersion, output)
                    : WriteValue(key, keys[i].Length, keys[i].Place, withVersion, output);
                if (result == ValueResult.Waiting)
                {
                    _resumeAt = keys[i].Offset;
                    return false;
                }

                CountGet(key, keys[i].Length, result, isTouch: request.Command >= MemcachedCommand.Gat);
                if (result == ValueResult.Begun)
                {
                    _resumeAt = keys[i].Offset + keys[i].Length;
                    if (!TryContinueValue(output))
                    {
                        return false;
                    }
                }
            }
        }

        output.Write("END\r\n"u8);
        _resumeAt = 0;
        return true;
    }

    // Reads the next keys. Fetches their buckets together, then their entries.
    private int ReadKeys(byte* bytes, ref int position, int end, KeyRun* keys)
    {
        int count = 0;
        while (count < BatchKeys)
        {
            while (position < end && bytes[position] == ' ')
            {
                position++;
            }

            if (position == end)
            {
                break;
            }

            int length = new ReadOnlySpan<byte>(bytes + position, end - position).IndexOf((byte)' ');
            length = length < 0 ? end - position : length;
            KeyRun* key = keys + count++;
            key->Offset = position;
            key->Length = length;
            key->Place = _engine.Memory.Place(_engine.Memory.HashKey(bytes + position, length, 0));
            position += length;
        }

        // Only fetches, as in RequestsAhead, so that as many as possible are in progress together.
        for (int i = 0; i < count; i++)
        {
            _engine.PrefetchBucket(keys[i].Place);
        }

        for (int i = 0; i < count && count > 1; i++)
        {
            _engine.PrefetchEntry(keys[i].Place);
        }

        return count;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CountGet(byte* key, int keyLength, ValueResult result, bool isTouch = false)
    {
        if (result == ValueResult.Miss)
        {
            KeyRef keyRef = KeyOf(key, keyLength);
            CountGone(keyRef);
            if (_events.IsOn)
            {
                NotifyMiss(keyRef, isRead: true);
            }
        }

        // gat and gats count only as touches, as in memcached.
        if (!isTouch)
        {
            _counters.Gets++;
            (result == ValueResult.Miss ? ref _counters.GetMisses : ref _counters.GetHits)++;
        }

        if (_sessions.Prefixes.IsOn)
        {
            _sessions.Prefixes.CountGet(new ReadOnlySpan<byte>(key, keyLength), result != ValueResult.Miss);
        }
    }

    // Counts an entry that has expired or was flushed, and retracts it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void CountGone(in KeyRef key)
    {
        switch (_engine.TakeOutGone(key))
        {
            case GoneReason.Expired:
                _counters.GetExpired++;
                break;
            case GoneReason.Cleared:
                _counters.GetFlushed++;
                break;
            default:
                break;
        }
    }

    // Writes "VALUE KEY FLAGS BYTES [VERSION]" and the value.
    private ValueResult WriteValue(byte* key, int keyLength, in KeyPlacement place, bool withVersion, OutputBuffer output)
    {
        int start = 6 + keyLength + _likelyTailBytes;
        Span<byte> room = output.Reserve(6 + keyLength + MaxTailBytes + LikelyValueBytes);
        int free = room.Length - start - MaxTailBytes;
        ref byte destination = ref MemoryMarshal.GetReference(room);
        int length = _engine.TryGetPlain(
            new BytesKey(key, keyLength), place, ref Unsafe.Add(ref destination, start), free, out ulong version);
        if (length < 0)
        {
            return WriteUnusualValue(key, keyLength, place, withVersion, output);
        }

        output.Advance(FinishValue(room, key, keyLength, start, length, 0, version, withVersion));
        return ValueResult.Written;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ValueResult WriteUnusualValue(byte* key, int keyLength, in KeyPlacement place, bool withVersion, OutputBuffer output)
    {
        var keyRef = new KeyRef(key, keyLength, 0, place);
        int start = 6 + keyLength + _likelyTailBytes;
        int valueBytes = LikelyValueBytes;
        while (true)
        {
            Span<byte> room = output.Reserve(start + MaxTailBytes + valueBytes);
            Span<byte> value = room[start..^MaxTailBytes];
            ReadOutcome outcome = _engine.TryGet(keyRef, value, acceptStale: false, out EntryInfo info);
            switch (outcome)
            {
                case ReadOutcome.Miss:
                    return ValueResult.Miss;

                case ReadOutcome.Hit:
                    output.Advance(FinishValue(room, key, keyLength, start, info.ValueBytes, info.Flags, info.Version, withVersion));
                    return ValueResult.Written;

                default:
                    if (info.ValueBytes >= LongValueBytes)
                    {
                        PinStatus status = _held.TryHold(_engine, keyRef, isUse: true);
                        if (status != PinStatus.Pinned)
                        {
                            return status == PinStatus.Missing ? ValueResult.Miss : ValueResult.Waiting;
                        }

                        info = _held.Info;
                        room = output.Reserve(6 + keyLength + MaxTailBytes);
                        output.Advance(WriteValueLine(room, key, keyLength, info.Flags, info.ValueBytes, info.Version, withVersion));
                        return ValueResult.Begun;
                    }

                    valueBytes = info.ValueBytes;
                    break;
            }
        }
    }

    // gat sets the expiration first, so that the reply has the resulting version. But an entry that is to expire at once is read first.
    private ValueResult TouchAndWrite(byte* key, int keyLength, in KeyPlacement place, long seconds, bool withVersion, OutputBuffer output)
    {
        var keyRef = new KeyRef(key, keyLength, 0, place);
        ResolvedExpiration expiration = ExpirationOf(seconds);
        ValueResult result;
        if (expiration.IsPast)
        {
            result = WriteUnusualValue(key, keyLength, place, withVersion, output);
            if (result != ValueResult.Waiting)
            {
                Remove(keyRef);
            }
        }
        else
        {
            WriteStatus status = Touch(keyRef, expiration);
            result = WriteUnusualValue(key, keyLength, place, withVersion, output);
            if (status == WriteStatus.NotFound && result is ValueResult.Written or ValueResult.Begun)
            {
                Touch(keyRef, expiration); // The entry was stored in between.
            }
        }

        if (result == ValueResult.Waiting)
        {
            return result; // Repeated as a whole, and counted then.
        }

        _counters.Touches++;
        if (result == ValueResult.Miss)
        {
            _counters.TouchMisses++;
        }
        else
        {
            _counters.TouchHits++;
        }

        return result;
    }

    // Writes the line before the value, which is at `start`, moves the value if the line has another length than assumed, and ends it.
    // Returns the total length.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int FinishValue(
        Span<byte> room, byte* key, int keyLength, int start, int valueLength, uint flags, ulong version, bool withVersion)
    {
        int tail = 4 + DigitsOf(flags) + DigitsOf((uint)valueLength) + (withVersion ? 1 + DigitsOf(version) : 0);
        if (tail != _likelyTailBytes)
        {
            int place = 6 + keyLength + tail;
            room.Slice(start, valueLength).CopyTo(room[place..]);
            start = place;
            _likelyTailBytes = tail;
        }

        int line = WriteValueLine(room, key, keyLength, flags, valueLength, version, withVersion);
        System.Diagnostics.Debug.Assert(line == start, "The line ends where the value begins.");
        int end = start + valueLength;
        room[end + 1] = (byte)'\n';
        room[end] = (byte)'\r';
        return end + 2;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int WriteValueLine(
        Span<byte> room, byte* key, int keyLength, uint flags, int valueLength, ulong version, bool withVersion)
    {
        "VALUE "u8.CopyTo(room);
        new ReadOnlySpan<byte>(key, keyLength).CopyTo(room[6..]);
        int at = 6 + keyLength;
        room[at++] = (byte)' ';
        at += DecimalText.Format(flags, room[at..]);
        room[at++] = (byte)' ';
        at += DecimalText.Format((uint)valueLength, room[at..]);
        if (withVersion)
        {
            room[at++] = (byte)' ';
            at += DecimalText.Format(version, room[at..]);
        }

        room[at + 1] = (byte)'\n';
        room[at] = (byte)'\r';
        return at + 2;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int DigitsOf(ulong number)
    {
        int digits = 1;
        while (number >= 1000)
        {
            number /= 1000;
            digits += 3;
        }

        return digits + (number >= 100 ? 2 : number >= 10 ? 1 : 0);
    }

    // --- Long values (I2) ---

    // Writes more of the long value, and its line end. Returns false if the client has to read first.
    private bool TryContinueValue(OutputBuffer output)
    {
        if (!_held.IsHeld)
        {
            return true;
        }

        ReadOnlySpan<byte> value = _held.Value;
        while (_heldOffset < value.Length)
        {
            if (output.IsFull)
            {
                return false;
            }

            int length = Math.Min(PieceBytes, value.Length - _heldOffset);
            output.Write(value.Slice(_heldOffset, length));
            _heldOffset += length;
        }

        output.Write("\r\n"u8);
        _heldOffset = 0;
        _held.Release();
        return true;
    }

    private struct KeyRun
    {
        public int Offset;
        public int Length;
        public KeyPlacement Place;
    }
}
