// A connection that speaks memcached's text protocol: parses requests, and writes what EntryCommands answers.
//
//   Execute: continue a paused reply -> skip a refused value -> read a request -> execute it -> ... until no complete request is left
//
//   I1  A request whose reply is not complete is not consumed. It is at the start of the next input again, and _resumeAt is the
//       position in the request that the reply has reached. So a long reply is written as the client reads it, without a copy.
//   I2  A value is held (_longValue) only while it is being written, and is released when the connection ends.
using Cairn.Engine;
using Cairn.Keys;
using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Metrics;
using Cairn.Server.Pinning;
using Cairn.Storage;

namespace Cairn.Server.Memcached;

/// <summary>Executes memcached's text protocol on a store.</summary>
internal sealed unsafe partial class TextSession : Session
{
    private readonly MemcachedSessions _sessions;
    private readonly ClientConnection? _connection;
    private readonly EntryCommands _entries;
    private readonly RequestRecorder _recorder;
    private readonly StoreEngine _engine;
    private readonly PinnedKeys _pinned;
    private bool _isAuthenticated;
    private bool _isReplaced; // By the session of a watcher.
    private MemcachedCommand _command; // The present command, for the count of errors.
    private int _searchedBytes;
    private long _skipBytes;
    private int _resumeAt;

    public TextSession(MemcachedSessions sessions, ClientConnection? connection, EntryCommands entries, RequestsAhead ahead)
    {
        _ahead = ahead;
        _sessions = sessions;
        _connection = connection;
        _longValue = new LongValue(connection);
        _entries = entries;
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
        _entries.Connection = _connection;
        HasUnfinishedRequest = false;
        _entries.BeginTurn();
        _keysOfTurn = 0;
        if (_sessions.IsFlushWaiting)
        {
            _sessions.FlushIfDue();
        }

        if (!_longValue.TryContinue(output, "\r\n"u8))
        {
            return 0;
        }

        int consumed = 0;
        while (budget-- > 0 && !IsEnded && !_isReplaced && !output.IsFull && _entries.HasShareOfTurn)
        {
            ReadOnlySpan<byte> rest = Skip(input[consumed..], ref consumed);
            if (rest.IsEmpty)
            {
                break;
            }

            int used = _isAuthenticated ? ExecuteNext(rest, consumed, output) : Authenticate(rest, output);
            if (used == 0)
            {
                break;
            }

            consumed += used;
            _searchedBytes = 0;
        }

        _entries.Counters.Yields += budget < 0 && consumed < input.Length ? 1 : 0;
        _aheadCount = 0; // I3
        _entries.Events.SendWaiting();
        return IsEnded ? input.Length : consumed;
    }

    public override void OnOpened() => _sessions.NoteOpened(_connection);

    public override void OnClosed(CloseReason reason)
    {
        _longValue.Release();
        _sessions.NoteClosed(_connection, reason);
    }

    // Skips the rest of a refused value.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ReadOnlySpan<byte> Skip(ReadOnlySpan<byte> rest, ref int consumed)
    {
        if (_skipBytes == 0)
        {
            return rest;
        }

        int skipped = (int)Math.Min(_skipBytes, rest.Length);
        _skipBytes -= skipped;
        consumed += skipped;
        return rest[skipped..];
    }

    // Executes a request. Returns its length, or 0 if it is incomplete or its reply is (I1).
    private int ExecuteOne(ReadOnlySpan<byte> input, OutputBuffer output)
    {
        ParseStatus status = MemcachedReader.TryRead(
            input, out MemcachedRequest request, out int consumed, _searchedBytes, _sessions.Options.MaxMultigetBytes);
        return status == ParseStatus.Complete
            ? ExecuteComplete(input, request, consumed, output)
            : ExecuteUnusual(input, status, request, consumed, output);
    }

    private int ExecuteComplete(ReadOnlySpan<byte> input, in MemcachedRequest request, int bytes, OutputBuffer output)
    {
        _command = request.Command;
        long watched = _recorder.Watch(MayTakeLong(request));
        bool isDone = Dispatch(input, request, output);
        if (watched != 0)
        {
            NoteIfSlow(watched, input[..request.LineBytes]);
        }

        if (!isDone)
        {
            return 0;
        }

        _recorder.Count(RequestRecorder.Memcached + (int)request.Command);
        return bytes;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private int ExecuteUnusual(ReadOnlySpan<byte> input, ParseStatus status, in MemcachedRequest request, int consumed, OutputBuffer output)
    {
        _command = request.Command;
        switch (status)
        {
            case ParseStatus.Incomplete:
                _searchedBytes = input.Length;
                return 0;

            case ParseStatus.IncompleteValue when IsTooLarge(request):
                // Not buffered: its bytes are discarded as they arrive.
                RefuseTooLarge(input, request, output);
                _skipBytes = request.Value.Length + 2L;
                return request.LineBytes;

            case ParseStatus.IncompleteValue:
                NeededBytes = (int)request.TotalBytes;
                return 0;

            case ParseStatus.Malformed when request.HasValue && request.SkipBytes == 0 && IsTooLarge(request):
                RefuseTooLarge(input, request, output);
                return consumed;

            case ParseStatus.Malformed:
                _recorder.CountRejected(RequestRecorder.Memcached + (int)request.Command);
                if (!request.IsNoReply)
                {
                    output.Write(MemcachedReader.GetErrorText(request.Error));
                }

                _skipBytes = request.SkipBytes;
                return consumed;

            default:
                _recorder.CountRejected(RequestRecorder.Memcached + (int)request.Command);
                output.Write(MemcachedReader.GetErrorText(request.Error));
                IsEnded = true;
                _connection?.Reject(input);
                return input.Length;
        }
    }

    // Returns false if the reply is not complete (I1).
    private bool Dispatch(ReadOnlySpan<byte> input, in MemcachedRequest request, OutputBuffer output)
    {
        switch (request.Command)
        {
            case MemcachedCommand.Get or MemcachedCommand.Gets or MemcachedCommand.Gat or MemcachedCommand.Gats:
                return Get(input, request, output);

            case >= MemcachedCommand.Set and <= MemcachedCommand.Cas:
                Store(input, request, output);
                return true;

            case MemcachedCommand.Delete:
                Delete(input, request, output);
                return true;

            case MemcachedCommand.Incr or MemcachedCommand.Decr:
                Count(input, request, output);
                return true;

            case MemcachedCommand.Touch:
                Touch(input, request, output);
                return true;

            case >= MemcachedCommand.MetaGet and <= MemcachedCommand.MetaDebug:
                return DispatchMeta(input, request, output);

            default:
                return DispatchManagement(input, request, output);
        }
    }

    private void End()
    {
        IsEnded = true;
        _connection?.Close(CloseReason.ClosedBySession);
    }

    // Returns the text of an error, and counts the error.
    private ReadOnlySpan<byte> ErrorText(MemcachedError error)
    {
        _recorder.CountError(RequestRecorder.Memcached + (int)_command);
        return MemcachedReader.GetErrorText(error);
    }

    // One key takes a microsecond at most, unless its value is long.
    private static bool MayTakeLong(in MemcachedRequest request) =>
        request.ArgumentCount > BatchKeys || request.Value.Length >= EntryCommands.LongValueBytes
        || request.Command is MemcachedCommand.Stats or MemcachedCommand.LruCrawler or MemcachedCommand.FlushAll;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void NoteIfSlow(long watched, ReadOnlySpan<byte> line)
    {
        if (!_recorder.IsSlow(watched, out TimeSpan duration))
        {
            return;
        }

        var words = new List<byte[]>();
        line = line.TrimEnd("\r\n"u8);
        foreach (Range word in line.Split((byte)' '))
        {
            if (words.Count < SlowRequest.MaxArguments && !line[word].IsEmpty)
            {
                words.Add(SlowRequest.Cut(line[word]));
            }
        }

        _recorder.AddSlow(new SlowRequest
        {
            At = _sessions.Options.Clock.GetUtcNow(),
            Duration = duration,
            Protocol = MemcachedCommands.Protocol,
            Client = _connection?.RemoteText ?? "",
            Arguments = words,
        });
    }

    private static void Reply(in MemcachedRequest request, OutputBuffer output, ReadOnlySpan<byte> text)
    {
        if (!request.IsNoReply)
        {
            output.Write(text);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private KeyRef KeyOf(byte* key, int length) => _isPlaced ? _pinned.At(key, length, _place) : _pinned.Place(_engine, key, length);

    private bool IsTooLarge(in MemcachedRequest request) =>
        _entries.IsTooLarge(request.Key.Length, request.Value.Length, request.ClientFlags);
}
