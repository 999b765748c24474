using Cairn.Engine;
using Cairn.Keys;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

// get, gets, gat, gats.
//
// A value is copied once, from the store to its place in the output. The line before it depends on the value's length and version, which
// are known only after the copy. So the line is assumed to be as long as in the previous reply. In the rare other case, the value is
// moved.
internal sealed unsafe partial class TextSession
{
    // The number of keys of one request whose memory is fetched together.
    private const int BatchKeys = 16;

    // The number of keys of one request that are looked up before other connections are served. Misses take no room in the output, so a
    // full output alone does not limit the work.
    private const int KeysPerTurn = 1024;

    // " FLAGS BYTES VERSION" and the ends of both lines.
    private const int MaxTailBytes = 1 + 10 + 1 + 10 + 1 + 20 + 2 + 2;

    private int _keysOfTurn;
    private int _likelyTailBytes = 7;
    private LongValue _longValue; // I2

    private bool Get(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        fixed (byte* bytes = input)
        {
            if (request.ArgumentCount == 1 && request.Command <= MemcachedCommand.Gets && _resumeAt == 0)
            {
                bool withVersion = request.Command == MemcachedCommand.Gets;
                byte* key = bytes + request.Key.Offset;
                KeyPlacement place = _isPlaced ? _place : _pinned.PlaceOf(_engine, key, request.Key.Length);
                ReadResult result = WriteValue(key, request.Key.Length, place, withVersion, output);
                if (result == ReadResult.Waiting)
                {
                    return false;
                }

                _entries.CountGet(key, request.Key.Length, place, result != ReadResult.Miss);
                if (result == ReadResult.Held)
                {
                    _resumeAt = request.Arguments.End;
                    if (!_longValue.TryContinue(output, "\r\n"u8))
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
                ReadResult result = request.Command >= MemcachedCommand.Gat
                    ? TouchAndWrite(key, keys[i].Length, keys[i].Place, request.ExpirationSeconds, withVersion, output)
                    : WriteValue(key, keys[i].Length, keys[i].Place, withVersion, output);
                if (result == ReadResult.Waiting)
                {
                    _resumeAt = keys[i].Offset;
                    return false;
                }

                _entries.CountGet(
                    key, keys[i].Length, keys[i].Place, result != ReadResult.Miss, isTouch: request.Command >= MemcachedCommand.Gat);
                if (result == ReadResult.Held)
                {
                    _resumeAt = keys[i].Offset + keys[i].Length;
                    if (!_longValue.TryContinue(output, "\r\n"u8))
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
            key->Place = _pinned.PlaceOf(_engine, bytes + position, length);
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

    // Writes "VALUE KEY FLAGS BYTES [VERSION]" and the value.
    private ReadResult WriteValue(byte* key, int keyLength, in KeyPlacement place, bool withVersion, OutputBuffer output)
    {
        int start = 6 + keyLength + _likelyTailBytes;
        Span<byte> room = output.Reserve(6 + keyLength + MaxTailBytes + EntryCommands.LikelyValueBytes);
        int free = room.Length - start - MaxTailBytes;
        ref byte destination = ref MemoryMarshal.GetReference(room);
        int length = _engine.TryGetPlain(
            new BytesKey(key, keyLength), place, ref Unsafe.Add(ref destination, start), free, out ulong version, out _);
        if (length == StoreEngine.Missing)
        {
            _engine.CountMiss(place.Partition);
            return ReadResult.Miss;
        }

        if (length < 0)
        {
            return WriteUnusualValue(key, keyLength, place, withVersion, output);
        }

        output.Advance(FinishValue(room, key, keyLength, start, length, 0, _entries.TokenOf(place, version), withVersion));
        return ReadResult.Read;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadResult WriteUnusualValue(byte* key, int keyLength, in KeyPlacement place, bool withVersion, OutputBuffer output)
    {
        var frame = new ReplyFrame(6 + keyLength + _likelyTailBytes, MaxTailBytes);
        ReadResult result = _entries.Read(
            _pinned.At(key, keyLength, place), output, frame, ref _longValue, out Span<byte> room, out EntryInfo info);
        WriteFound(result, room, key, keyLength, place, frame.HeadBytes, info, withVersion, output);
        return result;
    }

    private ReadResult TouchAndWrite(byte* key, int keyLength, in KeyPlacement place, long seconds, bool withVersion, OutputBuffer output)
    {
        var frame = new ReplyFrame(6 + keyLength + _likelyTailBytes, MaxTailBytes);
        ReadResult result = _entries.TouchAndRead(
            _pinned.At(key, keyLength, place), seconds, output, frame, ref _longValue, out Span<byte> room, out EntryInfo info);
        WriteFound(result, room, key, keyLength, place, frame.HeadBytes, info, withVersion, output);
        return result;
    }

    private void WriteFound(
        ReadResult result, Span<byte> room, byte* key, int keyLength, in KeyPlacement place, int start, in EntryInfo info, bool withVersion,
        OutputBuffer output)
    {
        ulong token = _entries.TokenOf(place, info);
        if (result == ReadResult.Read)
        {
            output.Advance(FinishValue(room, key, keyLength, start, info.ValueBytes, info.Flags, token, withVersion));
        }
        else if (result == ReadResult.Held)
        {
            output.Advance(WriteValueLine(room, key, keyLength, info.Flags, info.ValueBytes, token, withVersion));
        }
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

    private struct KeyRun
    {
        public int Offset;
        public int Length;
        public KeyPlacement Place;
    }
}
