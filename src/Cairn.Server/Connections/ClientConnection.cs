// A connection, from the accepted socket to its end. It belongs to one worker. Members that other threads may use say so.
//
//   Open --Close, limit, stop--> Closing --all sent--> Lingering --client closed, or time--> Closed
//     |                             |                                                          ^
//     +--reset, close at once-------+----------------------------------------------------------+
//
//   I1  Input is kept in the order of arrival: first the rest (the connection's own block), then the chunk (the loop's buffer, valid
//       only in this turn). If there is a rest, the chunk is appended to it, so at most one of the two exists.
//   I2  Output blocks live until the channel is closed, because the kernel may still read them.
//   I3  Requests are executed only in the state Open. Input that arrives later is discarded.
using System.Net;
using Cairn.Server.Buffers;
using Cairn.Server.Io;
using Cairn.Server.Listening;
using Cairn.Server.Timing;
using Cairn.Server.Tls;

namespace Cairn.Server.Connections;

internal enum ConnectionState
{
    Open,
    Closing,
    Lingering,
    Closed,
}

/// <summary>A client's connection, as its session and the rest of the server see it.</summary>
internal sealed unsafe partial class ClientConnection : IIoConnection
{
    /// <summary>The number of bytes whose transfer starts a time limit again.</summary>
    public const int RenewingBytes = 64 << 10;

    private const int FirstStepBytes = 256 << 10;
    private const int StepFactor = 4;

    // A client reads promptly if its system buffers empty within this time. A client that does not counts as slow for the next SlowForMs.
    private const int PromptMs = 100;
    private const int SlowForMs = 10_000;

    private readonly Worker _worker;
    private readonly long _connectedTimestamp;
    private Block? _rest;
    private int _restStart;
    private int _restEnd;
    private byte* _chunk;
    private int _chunkBytes;
    private string? _remoteText;

    // Credit counts only bytes that were sent long enough ago that a client which reads has read them (_settledBytes). _markedBytes is
    // the number of bytes sent at _markedAt, and becomes the next _settledBytes.
    private long _settledBytes;
    private long _markedBytes;
    private long _markedAt;
    private long _sentAt;

    // The end of the time in which the client counts as slow, in the worker's milliseconds.
    private long _slowUntil;

    public ClientConnection(Worker worker, long id, Listener listener)
    {
        _worker = worker;
        Id = id;
        Listener = listener;
        _connectedTimestamp = worker.Now;
        LastActivity = worker.Now;
        Output = new OutputBuffer(worker.Arena);
        WireOutput = Output;
        Held = new HeldMemory(worker.Pool, worker.LongReplies);
        DeadlineEntry = new DeadlineEntry<ClientConnection>(this);
    }

    /// <summary>Gets the number of the connection, from 1. A server never uses a number twice. Thread-safe.</summary>
    public long Id { get; }

    /// <summary>Gets the listener that accepted the connection. Thread-safe.</summary>
    public Listener Listener { get; }

    /// <summary>Gets the name of the listener. Thread-safe.</summary>
    public string ListenerName => Listener.Name;

    /// <summary>Gets the client's address; null if unknown, as for a client of a Unix socket. Thread-safe.</summary>
    public IPEndPoint? Remote => Channel.Remote;

    /// <summary>Gets the address as text for logs and lists: 127.0.0.1:50312, [::1]:50312, or unix. Thread-safe.</summary>
    public string RemoteText => _remoteText ??= Remote?.ToString() ?? "unix";

    /// <summary>Gets the address that the client connected to, as text in the same forms. Thread-safe.</summary>
    public string LocalText => Channel.Local?.ToString() ?? "unix";

    /// <summary>Gets the time since the client connected. Thread-safe.</summary>
    public TimeSpan Age => TimeSpan.FromMilliseconds(_worker.Clock.GetTimestampMs() - _connectedTimestamp);

    /// <summary>Gets the time since the client last sent something. Thread-safe.</summary>
    public TimeSpan IdleTime => TimeSpan.FromMilliseconds(Math.Max(0, _worker.Clock.GetTimestampMs() - LastActivity));

    /// <summary>Gets the number of bytes received, as transferred by the network. Thread-safe.</summary>
    public long BytesReceived { get; set; }

    /// <summary>Gets the number of bytes that the kernel accepted for sending, as transferred by the network. Thread-safe.</summary>
    public long BytesSent { get; private set; }

    /// <summary>Gets the number of bytes of requests that are incomplete or wait to be executed. Thread-safe, approximate.</summary>
    public int WaitingInputBytes => _restEnd - _restStart + _chunkBytes;

    /// <summary>Gets whether the connection uses TLS. Thread-safe.</summary>
    public bool IsEncrypted => Tls is not null;

    /// <summary>Gets the TLS filter; null without TLS.</summary>
    public TlsFilter? Tls { get; private set; }

    /// <summary>Gets the protocols that the listener speaks.</summary>
    public SpokenProtocols Spoken { get; init; }

    /// <summary>Gets or sets whether the log already says that the client speaks another protocol. Worker only.</summary>
    public bool IsForeign { get; set; }

    /// <summary>Gets the replies and messages on their way to the client. Worker only.</summary>
    public OutputBuffer Output { get; }

    /// <summary>Gets the memory that the session holds beyond input and output. Worker only.</summary>
    public HeldMemory Held { get; }

    /// <summary>Gets or sets the session. While it executes, a session may replace itself by another. The other one continues with the
    /// rest of the input. Worker only.</summary>
    public Session Session { get; set; } = null!; // Set before the connection receives anything.

    /// <summary>Gets or sets the reason why the connection ends or has ended. Thread-safe, possibly stale.</summary>
    public CloseReason CloseReason { get; set; }

    /// <summary>Gets whether requests are executed. False as soon as the connection is about to end, for example because its session has
    /// closed it. Thread-safe, possibly stale.</summary>
    public bool IsOpen => State == ConnectionState.Open && CloseReason == CloseReason.None;

    // --- Members for the engine; worker only ---

    public Worker Worker => _worker;

    public IoChannel Channel { get; set; } = null!; // Set before the connection is published.

    public ConnectionState State { get; set; }

    /// <summary>Gets or sets the output that the channel sends: the output itself, or the encrypted output.</summary>
    public OutputBuffer WireOutput { get; set; }

    /// <summary>Gets or sets the connection's index in the worker's list of connections.</summary>
    public int WorkerIndex { get; set; }

    public DeadlineEntry<ClientConnection> DeadlineEntry { get; }

    /// <summary>Gets the work, in bytes, that the connection caused when it was last served (<see cref="TurnShare"/>). The value at most
    /// halves each time it is served, so a short request between long ones does not make the client one of short requests.</summary>
    public long Work { get; private set; }

    /// <summary>Gets or sets whether the connection is in the list of ready or later connections.</summary>
    public bool IsReady { get; set; }

    /// <summary>Gets or sets whether that list is the one of later connections.</summary>
    public bool IsLater { get; set; }

    /// <summary>Gets or sets whether there is input that may be executed before more input arrives. This is so if the session stopped
    /// because of its budget or a full output.</summary>
    public bool HasMoreInput { get; set; }

    /// <summary>
    /// Gets or sets whether its request waits for a hazard cell or for memory (<see cref="CellQueue"/>) or, if its session sets this, for
    /// another thread. The connection is not served until <see cref="Worker.EndWait"/>.
    /// </summary>
    public bool IsWaiting { get; set; }

    /// <summary>Gets or sets its node in the cell queue; null if it is not in the queue. Worker only.</summary>
    public LinkedListNode<ClientConnection>? CellQueueNode { get; set; }

    /// <summary>Gets the number of bytes of values that were copied for this connection and that its client has not read
    /// completely.</summary>
    public long CopiedBytes { get; private set; }

    /// <summary>Gets or sets whether the connection is in the list of those whose session waits for memory or for its share of a
    /// turn.</summary>
    public bool IsAwaitingMemory { get; set; }

    /// <summary>Gets or sets whether it waits for memory or a cell, and its client reads without delay.</summary>
    public bool WaitsWithCredit { get; set; }

    /// <summary>Gets or sets the number of bytes in the output that others caused, such as published messages. Their creation cannot
    /// wait.</summary>
    public long PostedBytes { get; set; }

    /// <summary>Gets or sets whether the client has ended its side of the connection.</summary>
    public bool IsInputEnded { get; set; }

    /// <summary>Gets or sets whether the loop has paused receiving.</summary>
    public bool IsReceivePaused { get; set; }

    /// <summary>Gets whether the worker has something to do when the output has been sent.</summary>
    public bool AwaitsSent => HasMoreInput || IsInputEnded || IsReceivePaused || State != ConnectionState.Open || BlockedSince != 0;

    /// <summary>Gets or sets the time at which the client last sent something, in the worker's milliseconds.</summary>
    public long LastActivity { get; set; }

    /// <summary>Gets or sets the end of the last wait for the server, or for the client to read, in the worker's milliseconds.</summary>
    public long WaitedUntil { get; set; }

    /// <summary>Gets or sets the turn in which input last arrived.</summary>
    public long LastInputTurn { get; set; }

    /// <summary>Gets or sets the time at which the present incomplete request began; 0 if there is none. <see cref="RequestMark"/> is the
    /// number of bytes received by then.</summary>
    public long RequestSince { get; set; }

    public long RequestMark { get; set; }

    /// <summary>Gets or sets the time at which the remaining input arrived, as the clock's timestamp; 0 if it waits for the client to
    /// read.</summary>
    public long ArrivedTicks { get; set; }

    /// <summary>Gets or sets the time at which output began to wait for the client; 0 if none waits. <see cref="BlockedMark"/> is the
    /// number of bytes delivered by then.</summary>
    public long BlockedSince { get; set; }

    public long BlockedMark { get; set; }

    /// <summary>Gets or sets the time at which lingering ends.</summary>
    public long LingerUntil { get; set; }

    public long ConnectedTimestamp => _connectedTimestamp;

    public int InputBytes => _restEnd - _restStart + _chunkBytes;

    /// <summary>Gets the bytes of memory that the connection uses and that cannot wait: input, the session's memory, and messages from
    /// others. Thread-safe, approximate.</summary>
    public long HeldBytes => (_rest?.Length ?? 0) + Held.Bytes + PostedBytes;

    public ReadOnlySpan<byte> Input
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _chunkBytes != 0
            ? new ReadOnlySpan<byte>(_chunk, _chunkBytes) // I1: valid in this turn.
            : _rest is null ? [] : _rest.Span[_restStart.._restEnd];
    }

    /// <summary>Gets whether its session may take a hazard cell for longer than one command. False while other connections wait for a
    /// cell.</summary>
    public bool MayTakeCell => _worker.CellQueue.MayTake(this);

    /// <summary>Gets the maximum length of an entry that its session may copy because no cell is free.</summary>
    public long MostCopied => Math.Min(
        _worker.Limits.MaxOutputBytesPerConnection - Output.UnsentBytes - CopiedBytes, Held.RoomForCopy);

    /// <summary>Makes the connection wait until a cell or memory may be free. The session either does not consume the request or
    /// remembers where its reply continues, and is then called again.</summary>
    public void WaitForCell() => _worker.BeginWaitForCell(this);

    /// <summary>Counts a copy of a value that was created for the connection or, with a negative number, freed.</summary>
    public void CountCopied(long bytes)
    {
        if (bytes != 0)
        {
            CopiedBytes += bytes;
            _worker.Pool.Account.Add(bytes);
            _worker.Pool.Account.AddReply(bytes); // A copy is a reply that is being read.
        }
    }

    /// <summary>Serves the next waiting connection after the session has released a cell or a copy.</summary>
    public void OnCellReleased() => _worker.CellQueue.ServeFirst();

    /// <summary>Runs the action on the worker soon, and then sends what it wrote to the output. Does nothing if the connection has ended
    /// by then. Thread-safe. A cached delegate, such as a static lambda, saves an allocation.</summary>
    public void Post(Action<ClientConnection> onWorker) => _worker.Post(this, onWorker);

    /// <summary>Ends the connection at once or after its output has been sent, depending on the reason. Thread-safe.</summary>
    public void Close(CloseReason reason) => _worker.Close(this, reason);

    /// <summary>Ends the connection after its output has been sent, because a request is not of its protocol, and logs that. Worker
    /// only.</summary>
    public void Reject(ReadOnlySpan<byte> request)
    {
        Report(request);
        Close(CloseReason.ClosedBySession);
    }

    /// <summary>Logs a request that is not of the connection's protocol. Worker only.</summary>
    public void Report(ReadOnlySpan<byte> request) => _worker.ForeignClients.Tell(this, request);

    /// <summary>Logs that the client sent a wrong user or password. Worker only.</summary>
    public void ReportWrongPassword() => _worker.ForeignClients.TellWrongPassword(this);

    /// <summary>Returns the number of bytes that the client has read, or 0 if the client was slow to read in the last seconds. Bytes that
    /// were sent recently do not count: the system's buffers take some MiB that the client has not read.</summary>
    public long CreditAt(long now)
    {
        if (now < _slowUntil || (BlockedSince != 0 && now - BlockedSince >= PromptMs))
        {
            return 0;
        }

        if (now - _markedAt >= PromptMs)
        {
            _settledBytes = now - _sentAt >= PromptMs ? BytesSent : _markedBytes;
            _markedBytes = BytesSent;
            _markedAt = now;
        }

        return _settledBytes;
    }

    /// <summary>Returns the time in milliseconds for which the client has not read the waiting output. Thread-safe,
    /// approximate.</summary>
    public long StalledMs(long now) => BlockedSince == 0 ? 0 : Math.Max(0, now - BlockedSince);

    /// <summary>Records that output waits for the client. If the client has read enough since the last call, its time limit starts
    /// again.</summary>
    /// <returns>Whether output did not wait before.</returns>
    public bool NoteBlocked(long now)
    {
        bool isNew = BlockedSince == 0;
        if (!isNew && now - BlockedSince < PromptMs)
        {
            return false;
        }

        // Bytes that the kernel has taken are not yet read. The kernel's buffer may hold some MiB, and it takes more only when much of
        // them is gone.
        long delivered = BytesSent - Channel.UndeliveredBytes;
        if (isNew || delivered - BlockedMark >= RenewingBytes)
        {
            NoteSlow(now);
            BlockedSince = Math.Max(now, 1);
            BlockedMark = delivered;
        }

        return isNew;
    }

    /// <summary>Records that no output waits for the client.</summary>
    public void NoteUnblocked(long now)
    {
        NoteSlow(now);
        BlockedSince = 0;
    }

    private void NoteSlow(long now)
    {
        if (BlockedSince != 0 && now - BlockedSince >= PromptMs)
        {
            _slowUntil = now + SlowForMs;
        }
    }

    /// <summary>Records the work of the turn in which the connection was served.</summary>
    public void CountWork(long bytes) => Work = Math.Max(bytes, Work >> 1);

    /// <summary>Counts bytes that the kernel took.</summary>
    public void CountSent(long bytes)
    {
        BytesSent += bytes;
        _sentAt = _worker.Now;
        _worker.Recorder.BytesSent += bytes;
    }

    /// <summary>Takes bytes that arrived without copying them. They are valid until the turn ends.</summary>
    public void TakeChunk(byte* bytes, int count)
    {
        if (InputBytes == 0)
        {
            _chunk = bytes;
            _chunkBytes = count;
        }
        else
        {
            KeepChunk();
            Append(new ReadOnlySpan<byte>(bytes, count));
        }
    }

    /// <summary>Takes a copy of bytes that arrived.</summary>
    public void Append(ReadOnlySpan<byte> bytes)
    {
        int length = _restEnd - _restStart;
        if (_rest is null || _rest.Length - _restEnd < bytes.Length)
        {
            MakeRoom(length, bytes.Length);
        }

        bytes.CopyTo(_rest!.Span[_restEnd..]);
        _restEnd += bytes.Length;
    }

    /// <summary>Removes the first bytes, which were executed, and keeps the rest of a chunk.</summary>
    public void Consume(int bytes)
    {
        if (_chunkBytes != 0)
        {
            _chunk += bytes;
            _chunkBytes -= bytes;
            KeepChunk();
            return;
        }

        _restStart += bytes;
        if (_restStart == _restEnd)
        {
            DropInput();
        }
    }

    /// <summary>Copies the rest of the chunk, because the turn ends and the loop's buffer becomes invalid.</summary>
    public void KeepChunk()
    {
        if (_chunkBytes != 0)
        {
            var chunk = new ReadOnlySpan<byte>(_chunk, _chunkBytes);
            _chunkBytes = 0;
            Append(chunk);
        }
    }

    public void DropInput()
    {
        _chunkBytes = 0;
        _restStart = _restEnd = 0;
        if (_rest is { } rest)
        {
            _rest = null;
            _worker.Pool.Return(rest);
        }
    }

    private void MakeRoom(int length, int more)
    {
        // A short request of known length gets its block at once. A long one gets it in steps, so that the announcement of a value costs
        // no memory before the value arrives.
        long atLeast = (long)length + more;
        long step = Math.Max(FirstStepBytes, StepFactor * (long)(_rest?.Length ?? 0));
        long wanted = Math.Max(atLeast, Math.Min(Math.Min(Session.NeededBytes, step), _worker.Limits.MaxInputBytesPerConnection));
        if (_rest is { } rest)
        {
            if (wanted <= rest.Length)
            {
                rest.Span.Slice(_restStart, length).CopyTo(rest.Span);
            }
            else
            {
                if (wanted == atLeast)
                {
                    wanted = Math.Max(wanted, Math.Min(2L * rest.Length, _worker.Limits.MaxInputBytesPerConnection));
                }

                Block larger = _worker.Pool.Rent(checked((int)wanted));
                rest.Span.Slice(_restStart, length).CopyTo(larger.Span);
                _rest = larger;
                _worker.Pool.Return(rest);
            }
        }
        else
        {
            _rest = _worker.Pool.Rent(checked((int)wanted));
        }

        _restStart = 0;
        _restEnd = length;
    }
}
