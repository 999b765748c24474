// A connection that speaks memcached's binary protocol: parses requests, and writes what EntryCommands answers.
//
//   Execute: continue a long value -> skip the rest of a refused request -> read a request -> execute it -> ... until none is complete
//
//   I1  A request is consumed when its reply is complete. While a long value is being written, the request stays at the start of the
//       input, and _longValue or _isResumed shows that its reply has begun.
//   I2  The requests read ahead are those at the start of the input. Only Execute consumes input, and it discards unused ones.
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Metrics;
using Cairn.Server.Pinning;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

/// <summary>Executes memcached's binary protocol on a store.</summary>
internal sealed unsafe partial class BinarySession : Session
{
    private readonly MemcachedSessions _sessions;
    private readonly ClientConnection? _connection;
    private readonly EntryCommands _entries;
    private readonly RequestRecorder _recorder;
    private readonly StoreEngine _engine;
    private readonly PinnedKeys _pinned;
    private LongValue _longValue; // I1
    private long _skipBytes;
    private bool _isResumed;

    public BinarySession(MemcachedSessions sessions, ClientConnection? connection, EntryCommands entries, RequestsAhead ahead)
    {
        _sessions = sessions;
        _connection = connection;
        _entries = entries;
        _ahead = ahead;
        _longValue = new LongValue(connection);
        _recorder = sessions.Options.Metrics.OfThisThread;
        _engine = sessions.Store.Engine;
        _pinned = sessions.Options.Pinned;
        _isAuthenticated = sessions.Options.Credentials is null;
    }

    /// <summary>Gets whether the client or an error has ended the connection.</summary>
    public bool IsEnded { get; private set; }

    public override int Execute(ReadOnlySpan<byte> input, OutputBuffer output, int budget)
    {
        NeededBytes = 0;
        AwaitedBytes = 0;
        HasUnfinishedRequest = false;
        _entries.BeginTurn();
        _entries.Connection = _connection;
        if (_sessions.IsFlushWaiting)
        {
            _sessions.FlushIfDue();
        }

        if (!_longValue.TryContinue(output, []))
        {
            return 0;
        }

        int consumed = 0;
        while (budget-- > 0 && !IsEnded && !output.IsFull && _entries.HasShareOfTurn)
        {
            int skipped = (int)Math.Min(_skipBytes, input.Length - consumed);
            _skipBytes -= skipped;
            consumed += skipped;
            int used = ExecuteOne(input[consumed..], consumed, output);
            if (used == 0)
            {
                break;
            }

            consumed += used;
        }

        _entries.Counters.Yields += budget < 0 && consumed < input.Length ? 1 : 0;
        _aheadCount = 0; // I2
        _entries.Events.SendWaiting();
        return IsEnded ? input.Length : consumed;
    }

    public override void OnOpened() => _sessions.NoteOpened(_connection);

    public override void OnClosed(CloseReason reason)
    {
        _longValue.Release();
        _sessions.NoteClosed(_connection, reason);
    }

    // Executes a request. Returns the bytes to consume, or 0 if it is incomplete or its reply is (I1).
    private int ExecuteOne(ReadOnlySpan<byte> input, int position, OutputBuffer output)
    {
        ParseStatus status = MemcachedBinary.TryRead(input, out MemcachedBinaryRequest request, out int consumed);
        if (status != ParseStatus.Complete)
        {
            return ExecuteUnusual(input, status, request, consumed, output);
        }

        if (!_isAuthenticated && !IsAllowedWithoutUser(request.Command))
        {
            return Fail(input, request, MemcachedStatus.AuthenticationError, output);
        }

        long watched = _recorder.Watch(request.Value.Length >= EntryCommands.LongValueBytes
            || request.Command is MemcachedCommand.Stats or MemcachedCommand.FlushAll);
        bool isDone;
        fixed (byte* bytes = input)
        {
            byte* key = bytes + request.Key.Offset;
            KeyPlacement place = PlaceOf(position, key, request.Key.Length);
            isDone = Dispatch(input, request, _pinned.At(key, request.Key.Length, place), output);
        }

        if (_recorder.IsSlow(watched, out TimeSpan duration))
        {
            NoteSlow(input, request, duration);
        }

        if (!isDone)
        {
            return 0;
        }

        _recorder.Count(RequestRecorder.Memcached + (int)request.Command);
        return consumed;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private int ExecuteUnusual(
        ReadOnlySpan<byte> input, ParseStatus status, in MemcachedBinaryRequest request, int consumed, OutputBuffer output)
    {
        switch (status)
        {
            case ParseStatus.Incomplete:
                NeededBytes = request.HeadBytes;
                return 0;

            case ParseStatus.IncompleteValue when !_isAuthenticated && !IsAllowedWithoutUser(request.Command):
                return Fail(input, request, MemcachedStatus.AuthenticationError, output);

            case ParseStatus.IncompleteValue when RefusalOf(request) is var refusal and not MemcachedStatus.Success:
                // Not buffered: its bytes are discarded as they arrive.
                Refuse(input, request, refusal, output);
                _skipBytes = request.SkipBytes;
                return request.HeadBytes;

            case ParseStatus.IncompleteValue:
                NeededBytes = (int)request.TotalBytes;
                return 0;

            case ParseStatus.Malformed when _isAuthenticated:
                _recorder.CountRejected(RequestRecorder.Memcached + (int)request.Command);
                _connection?.Report(input);
                WriteError(request, request.Error, output);
                _skipBytes = request.SkipBytes;
                return consumed;

            default:
                bool isLengthWrong = request.Error == MemcachedStatus.UnknownCommand && status == ParseStatus.Fatal;
                bool isUserMissing = !_isAuthenticated && request.Error != MemcachedStatus.Success && !isLengthWrong
                    && !IsAllowedWithoutUser(request.Command);
                return Fail(input, request, isUserMissing ? MemcachedStatus.AuthenticationError : request.Error, output);
        }
    }

    // Returns false if the reply is not complete (I1).
    private bool Dispatch(ReadOnlySpan<byte> input, in MemcachedBinaryRequest request, in KeyRef key, OutputBuffer output)
    {
        switch (request.Command)
        {
            case MemcachedCommand.Get:
                return Get(request, key, output);

            case MemcachedCommand.Gat:
                return GetAndTouch(request, key, output);

            case >= MemcachedCommand.Set and <= MemcachedCommand.Prepend:
                Store(input, request, key, output);
                return true;

            case MemcachedCommand.Delete:
                WriteStatus status = _entries.Delete(key, _entries.VersionOf(key, request.Version));
                WriteResult(request, status, 0, output);
                return true;

            case MemcachedCommand.Incr or MemcachedCommand.Decr:
                Count(request, key, output);
                return true;

            case MemcachedCommand.Touch:
                Touch(request, key, output);
                return true;

            default:
                return Manage(input, request, output);
        }
    }

    // --- Reads ---

    private bool Get(in MemcachedBinaryRequest request, in KeyRef key, OutputBuffer output)
    {
        if (_isResumed)
        {
            _isResumed = false; // The long value has been written (I1).
            return true;
        }

        int head = MemcachedBinary.HeaderBytes + MemcachedBinary.FlagsBytes + (request.ReturnsKey ? key.Length : 0);
        Span<byte> room = output.Reserve(head + EntryCommands.LikelyValueBytes);
        int length = _engine.TryGetPlain(
            new BytesKey(key.Bytes, key.Length), key.Place, ref Unsafe.Add(ref MemoryMarshal.GetReference(room), head), room.Length - head,
            out ulong version, out long deadline);
        if (length < 0)
        {
            return GetUnusual(request, key, output);
        }

        _entries.CountGet(key.Bytes, key.Length, key.Place, isHit: true);
        WriteValueHead(request, key, EntryInfo.Plain(length, version, deadline), room);
        output.Advance(head + length);
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool GetUnusual(in MemcachedBinaryRequest request, in KeyRef key, OutputBuffer output)
    {
        var frame = new ReplyFrame(MemcachedBinary.HeaderBytes + MemcachedBinary.FlagsBytes + (request.ReturnsKey ? key.Length : 0), 0);
        ReadResult result = _entries.Read(key, output, frame, ref _longValue, out Span<byte> room, out EntryInfo info);
        return FinishGet(request, key, result, room, info, output, isTouch: false);
    }

    private bool GetAndTouch(in MemcachedBinaryRequest request, in KeyRef key, OutputBuffer output)
    {
        if (_isResumed)
        {
            _isResumed = false;
            return true;
        }

        var frame = new ReplyFrame(MemcachedBinary.HeaderBytes + MemcachedBinary.FlagsBytes + (request.ReturnsKey ? key.Length : 0), 0);
        ReadResult result = _entries.TouchAndRead(
            key, request.ExpirationSeconds, output, frame, ref _longValue, out Span<byte> room, out EntryInfo info);
        return FinishGet(request, key, result, room, info, output, isTouch: true);
    }

    private bool FinishGet(
        in MemcachedBinaryRequest request, in KeyRef key, ReadResult result, Span<byte> room, in EntryInfo info, OutputBuffer output,
        bool isTouch)
    {
        if (result == ReadResult.Waiting)
        {
            return false;
        }

        _entries.CountGet(key.Bytes, key.Length, key.Place, result != ReadResult.Miss, isTouch);
        if (result == ReadResult.Miss)
        {
            if (!request.IsQuiet)
            {
                WriteMiss(request, key, output);
            }

            return true;
        }

        int head = WriteValueHead(request, key, info, room);
        output.Advance(result == ReadResult.Read ? head + info.ValueBytes : head);
        if (result == ReadResult.Held && !_longValue.TryContinue(output, []))
        {
            _isResumed = true;
            return false;
        }

        return true;
    }

    private void Touch(in MemcachedBinaryRequest request, in KeyRef key, OutputBuffer output)
    {
        // The reply shows the entry even if it is to expire at once.
        _engine.TryGetInfo(key, acceptStale: false, out EntryInfo info);
        WriteStatus status = _entries.Touch(key, request.ExpirationSeconds);
        if (status != WriteStatus.Stored)
        {
            WriteError(request, status == WriteStatus.NotFound ? MemcachedStatus.NotFound : MemcachedStatus.OutOfMemory, output);
            return;
        }

        if (_engine.TryGetInfo(key, acceptStale: false, out EntryInfo touched))
        {
            info = touched;
        }

        Span<byte> room = output.Reserve(MemcachedBinary.HeaderBytes + MemcachedBinary.FlagsBytes);
        MemcachedBinary.WriteHeader(
            room, request, MemcachedStatus.Success, new MemcachedBody(MemcachedBinary.FlagsBytes, 0, MemcachedBinary.FlagsBytes),
            _entries.TokenOf(key.Place, info));
        BinaryPrimitives.WriteUInt32BigEndian(room[MemcachedBinary.HeaderBytes..], info.Flags);
        output.Advance(MemcachedBinary.HeaderBytes + MemcachedBinary.FlagsBytes);
    }

    // --- Writes ---

    private void Store(ReadOnlySpan<byte> input, in MemcachedBinaryRequest request, in KeyRef key, OutputBuffer output)
    {
        var store = new StoreRequest
        {
            // As in memcached, a version makes add and replace the same as cas.
            Command = request.Version != 0 && request.Command <= MemcachedCommand.Replace ? MemcachedCommand.Cas : request.Command,
            Value = request.Value.Of(input),
            Flags = request.ClientFlags,
            ExpirationSeconds = request.ExpirationSeconds,
            Version = _entries.VersionOf(key, request.Version),
        };
        ulong version = 0;
        WriteStatus status = request.IsQuiet && request.Command == MemcachedCommand.Set
            ? _entries.Store(key, store)
            : _entries.Store(key, store, out version);
        switch (status)
        {
            case WriteStatus.Stored:
                WriteSuccess(request, _entries.TokenOf(key.Place, version), output);
                break;

            case WriteStatus.VersionMismatch or WriteStatus.Exists:
                WriteError(request, MemcachedStatus.Exists, output);
                break;

            case WriteStatus.NotFound:
                WriteError(
                    request, request.Command >= MemcachedCommand.Append ? MemcachedStatus.NotStored : MemcachedStatus.NotFound, output);
                break;

            case WriteStatus.TooLarge:
                WriteError(request, MemcachedStatus.TooLarge, output);
                break;

            default:
                WriteError(request, MemcachedStatus.OutOfMemory, "Out of memory allocating item"u8, output);
                break;
        }
    }

    private void Count(in MemcachedBinaryRequest request, in KeyRef key, OutputBuffer output)
    {
        var arithmetic = new Arithmetic(request.Delta, request.Command == MemcachedCommand.Incr, _entries.VersionOf(key, request.Version));
        WriteStatus status;
        CountedNumber counted;
        do
        {
            status = _entries.Add(key, arithmetic, out counted);
            if (status != WriteStatus.NotFound)
            {
                break;
            }

            if (!request.CreatesNumber)
            {
                _entries.CountArithmeticMiss(arithmetic.IsIncrement);
                break;
            }

            counted.Number = request.InitialValue;
            status = _entries.CreateNumber(key, counted.Number, _entries.ExpirationOf(request.ExpirationSeconds), out counted.Info);
        }
        while (status == WriteStatus.Exists);

        if (status != WriteStatus.Stored || request.IsQuiet)
        {
            WriteResult(request, status, _entries.TokenOf(key.Place, counted.Info), output);
            return;
        }

        Span<byte> room = output.Reserve(MemcachedBinary.HeaderBytes + sizeof(ulong));
        MemcachedBinary.WriteHeader(room, request, MemcachedStatus.Success, new MemcachedBody(0, 0, sizeof(ulong)), _entries.TokenOf(key.Place, counted.Info));
        BinaryPrimitives.WriteUInt64BigEndian(room[MemcachedBinary.HeaderBytes..], counted.Number);
        output.Advance(MemcachedBinary.HeaderBytes + sizeof(ulong));
    }

    // Returns the error for a request whose value is not wanted; Success if it is.
    private MemcachedStatus RefusalOf(in MemcachedBinaryRequest request) => request.Command switch
    {
        MemcachedCommand.SaslAuth or MemcachedCommand.SaslStep => SaslRefusalOf(request),
        _ => _entries.IsTooLarge(request.Key.Length, request.Value.Length, request.ClientFlags) ? MemcachedStatus.TooLarge : MemcachedStatus.Success,
    };

    private void Refuse(ReadOnlySpan<byte> input, in MemcachedBinaryRequest request, MemcachedStatus refusal, OutputBuffer output)
    {
        if (refusal == MemcachedStatus.TooLarge)
        {
            fixed (byte* key = request.Key.Of(input))
            {
                _entries.RefuseTooLarge(_pinned.Place(_engine, key, request.Key.Length), removesOld: request.Command == MemcachedCommand.Set);
            }
        }

        WriteError(request, refusal, output);
    }

    // --- Replies ---

    // Writes header, flags and key. Returns their length.
    private int WriteValueHead(in MemcachedBinaryRequest request, in KeyRef key, in EntryInfo info, Span<byte> room)
    {
        int keyBytes = request.ReturnsKey ? key.Length : 0;
        var body = new MemcachedBody(MemcachedBinary.FlagsBytes, keyBytes, MemcachedBinary.FlagsBytes + keyBytes + info.ValueBytes);
        MemcachedBinary.WriteHeader(room, request, MemcachedStatus.Success, body, _entries.TokenOf(key.Place, info));
        BinaryPrimitives.WriteUInt32BigEndian(room[MemcachedBinary.HeaderBytes..], info.Flags);
        int head = MemcachedBinary.HeaderBytes + MemcachedBinary.FlagsBytes;
        new ReadOnlySpan<byte>(key.Bytes, keyBytes).CopyTo(room[head..]);
        return head + keyBytes;
    }

    private static void WriteMiss(in MemcachedBinaryRequest request, in KeyRef key, OutputBuffer output)
    {
        if (!request.ReturnsKey)
        {
            WriteReply(request, MemcachedStatus.NotFound, MemcachedBinary.TextOf(MemcachedStatus.NotFound), output);
            return;
        }

        Span<byte> room = output.Reserve(MemcachedBinary.HeaderBytes + key.Length);
        MemcachedBinary.WriteHeader(room, request, MemcachedStatus.NotFound, new MemcachedBody(0, key.Length, key.Length), 0);
        new ReadOnlySpan<byte>(key.Bytes, key.Length).CopyTo(room[MemcachedBinary.HeaderBytes..]);
        output.Advance(MemcachedBinary.HeaderBytes + key.Length);
    }

    private void WriteResult(in MemcachedBinaryRequest request, WriteStatus status, ulong version, OutputBuffer output)
    {
        switch (status)
        {
            case WriteStatus.Stored:
                WriteSuccess(request, version, output);
                break;
            case WriteStatus.NotFound:
                WriteError(request, MemcachedStatus.NotFound, output);
                break;
            case WriteStatus.VersionMismatch or WriteStatus.Exists:
                WriteError(request, MemcachedStatus.Exists, output);
                break;
            case WriteStatus.NotANumber:
                WriteError(request, MemcachedStatus.NotANumber, output);
                break;
            default:
                WriteError(request, MemcachedStatus.OutOfMemory, output);
                break;
        }
    }

    private static void WriteSuccess(in MemcachedBinaryRequest request, ulong version, OutputBuffer output)
    {
        if (!request.IsQuiet)
        {
            MemcachedBinary.WriteHeader(output.Reserve(MemcachedBinary.HeaderBytes), request, MemcachedStatus.Success, default, version);
            output.Advance(MemcachedBinary.HeaderBytes);
        }
    }

    private void WriteError(in MemcachedBinaryRequest request, MemcachedStatus status, OutputBuffer output) =>
        WriteError(request, status, MemcachedBinary.TextOf(status), output);

    private void WriteError(in MemcachedBinaryRequest request, MemcachedStatus status, ReadOnlySpan<byte> text, OutputBuffer output)
    {
        if (status is not (MemcachedStatus.NotFound or MemcachedStatus.Exists or MemcachedStatus.NotStored))
        {
            _recorder.CountError(RequestRecorder.Memcached + (int)request.Command);
        }

        WriteReply(request, status, text, output);
    }

    private static void WriteReply(in MemcachedBinaryRequest request, MemcachedStatus status, ReadOnlySpan<byte> body, OutputBuffer output)
    {
        Span<byte> room = output.Reserve(MemcachedBinary.HeaderBytes + body.Length);
        MemcachedBinary.WriteHeader(room, request, status, new MemcachedBody(0, 0, body.Length), 0);
        body.CopyTo(room[MemcachedBinary.HeaderBytes..]);
        output.Advance(MemcachedBinary.HeaderBytes + body.Length);
    }

    // Replies with an error, except if there is none, and ends the connection. Returns the bytes to consume.
    private int Fail(ReadOnlySpan<byte> input, in MemcachedBinaryRequest request, MemcachedStatus error, OutputBuffer output)
    {
        if (error != MemcachedStatus.Success)
        {
            WriteError(request, error, output);
        }

        IsEnded = true;
        if (error == MemcachedStatus.AuthenticationError)
        {
            _connection?.Close(CloseReason.ClosedBySession);
        }
        else
        {
            _recorder.CountRejected(RequestRecorder.Memcached + (int)request.Command);
            _connection?.Reject(input);
        }

        return input.Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void NoteSlow(ReadOnlySpan<byte> input, in MemcachedBinaryRequest request, TimeSpan duration) =>
        _recorder.AddSlow(new SlowRequest
        {
            At = _sessions.Options.Clock.GetUtcNow(),
            Duration = duration,
            Protocol = MemcachedCommands.Protocol,
            Client = _connection?.RemoteText ?? "",
            Arguments =
            [
                Encoding.ASCII.GetBytes(MemcachedCommands.NameOf(request.Command)),
                .. request.Key.IsEmpty ? (IEnumerable<byte[]>)[] : [SlowRequest.Cut(request.Key.Of(input))],
            ],
        });
}
