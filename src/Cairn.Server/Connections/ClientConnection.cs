// A connection, from the accepted socket to its end. It belongs to one worker; what other threads may touch says so.
//
//   Open --Close, limit, stop--> Closing --all sent--> Lingering --client closed, or time--> Closed
//     |                             |                                                          ^
//     +--reset, close at once-------+----------------------------------------------------------+
//
//   I1  Input that arrived is in order: first the rest (this connection's own block), then the chunk (the loop's buffer,
//       valid in this turn only). When there is a rest, a chunk is appended to it, so only one of the two is there.
//   I2  Output blocks live until the channel is closed: the kernel may still read them.
//   I3  A request is executed only when Open; input that arrives later is dropped.
using System.Net;
using System.Runtime.CompilerServices;
using Cairn.Server.Io;
using Cairn.Server.Limits;
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
internal sealed unsafe class ClientConnection
{
    /// <summary>Bytes that move within a time limit, and give that time anew.</summary>
    public const int RenewingBytes = 64 << 10;

    private const int FirstStepBytes = 256 << 10;
    private const int StepFactor = 4;

    // A client whose system buffers empty within this time reads at once. One that did not reads slowly for the next seconds, too.
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

    // Bytes sent long enough ago that a client that reads has read them, and bytes sent at the mark, which become those.
    private long _settledBytes;
    private long _markedBytes;
    private long _markedAt;
    private long _sentAt;

    // Until when the client counts as slow, in the worker's milliseconds.
    private long _slowUntil;

    public ClientConnection(Worker worker, long id, string listenerName)
    {
        _worker = worker;
        Id = id;
        ListenerName = listenerName;
        ConnectedAt = worker.Clock.GetUtcNow();
        _connectedTimestamp = worker.Now;
        LastActivity = worker.Now;
        Output = new OutputBuffer(worker.Arena);
        WireOutput = Output;
        Held = new HeldMemory(worker.Pool);
        DeadlineEntry = new DeadlineEntry(this);
    }

    /// <summary>Never used twice by one server; from 1 on. Any thread.</summary>
    public long Id { get; }

    /// <summary>The listener that accepted it. Any thread.</summary>
    public string ListenerName { get; }

    /// <summary>The client's address; null if unknown, as that of a client of a Unix socket. Any thread.</summary>
    public IPEndPoint? Remote => Channel.Remote;

    /// <summary>The address in words, for logs and lists: 127.0.0.1:50312, [::1]:50312, or unix. Any thread.</summary>
    public string RemoteText => _remoteText ??= Remote?.ToString() ?? "unix";

    /// <summary>Any thread.</summary>
    public DateTimeOffset ConnectedAt { get; }

    /// <summary>How long it has been there. Any thread.</summary>
    public TimeSpan Age => TimeSpan.FromMilliseconds(_worker.Clock.GetTimestampMs() - _connectedTimestamp);

    /// <summary>How long nothing has arrived. Any thread.</summary>
    public TimeSpan IdleTime => TimeSpan.FromMilliseconds(Math.Max(0, _worker.Clock.GetTimestampMs() - LastActivity));

    /// <summary>Bytes that arrived, as they came over the wire. Any thread.</summary>
    public long BytesReceived { get; set; }

    /// <summary>Bytes that the kernel took, as they go over the wire. Any thread.</summary>
    public long BytesSent { get; private set; }

    /// <summary>Bytes of requests that are held until they are complete or their turn comes. Any thread, approximately.</summary>
    public int WaitingInputBytes => _restEnd - _restStart + _chunkBytes;

    /// <summary>Whether TLS protects it. Any thread.</summary>
    public bool IsEncrypted => Tls is not null;

    /// <summary>What TLS knows about the client; null without TLS.</summary>
    public TlsFilter? Tls { get; set; }

    /// <summary>What its listener understands.</summary>
    public SpokenProtocols Spoken { get; init; }

    /// <summary>Whether it was told in the log that the client speaks another protocol. Worker only.</summary>
    public bool IsForeign { get; set; }

    /// <summary>Replies and messages on their way to the client. Worker only.</summary>
    public OutputBuffer Output { get; }

    /// <summary>What the session holds besides. Worker only.</summary>
    public HeldMemory Held { get; }

    /// <summary>What is spoken. A session may put another in its place while it executes; that one then continues with what is
    /// left of the input. Worker only.</summary>
    public Session Session { get; set; } = null!; // Set before the connection receives anything.

    /// <summary>Why it ends or ended. Any thread, eventually.</summary>
    public CloseReason CloseReason { get; set; }

    /// <summary>Whether requests are executed: not when it is about to end, as when its session has closed it just now. Any thread,
    /// eventually.</summary>
    public bool IsOpen => State == ConnectionState.Open && CloseReason == CloseReason.None;

    // --- The engine's side; worker only ---

    public Worker Worker => _worker;

    public IoChannel Channel { get; set; } = null!; // Set before the connection is known to anybody.

    public ConnectionState State { get; set; }

    /// <summary>What the channel sends: the output, or the output encrypted.</summary>
    public OutputBuffer WireOutput { get; set; }

    /// <summary>Where the worker has it among its connections.</summary>
    public int WorkerIndex { get; set; }

    public DeadlineEntry DeadlineEntry { get; }

    /// <summary>In the list of those to be served.</summary>
    public bool IsReady { get; set; }

    /// <summary>Input is there that may be executed without more arriving: the session stopped for its budget, or because the
    /// output was full.</summary>
    public bool HasMoreInput { get; set; }

    /// <summary>
    /// Its request waits for a hazard cell or for memory (<see cref="CellQueue"/>), or, if its session sets this, for another thread; and it is not
    /// served until <see cref="Worker.EndWait"/>.
    /// </summary>
    public bool IsWaiting { get; set; }

    /// <summary>Its place among those that wait. Worker only.</summary>
    public LinkedListNode<ClientConnection>? CellQueueNode { get; set; }

    /// <summary>Bytes of values that were copied for it, and that its client has not read to the end.</summary>
    public long CopiedBytes { get; private set; }

    /// <summary>In the list of those whose session waits for memory.</summary>
    public bool IsAwaitingMemory { get; set; }

    /// <summary>Waits for memory or a cell, and was not slow to read.</summary>
    public bool WaitsWithCredit { get; set; }

    /// <summary>Bytes in the output that others caused, such as published messages. They cannot wait to be made.</summary>
    public long PostedBytes { get; set; }

    /// <summary>The client sends nothing more.</summary>
    public bool IsInputEnded { get; set; }

    /// <summary>The loop was told to receive nothing for now.</summary>
    public bool IsReceivePaused { get; set; }

    /// <summary>Something is to be done when the output is sent.</summary>
    public bool AwaitsSent => HasMoreInput || IsInputEnded || IsReceivePaused || State != ConnectionState.Open || BlockedSince != 0;

    /// <summary>When the client last sent something, in the worker's milliseconds.</summary>
    public long LastActivity { get; set; }

    /// <summary>The turn in which something last arrived.</summary>
    public long LastInputTurn { get; set; }

    /// <summary>When the incomplete request at hand began, and the bytes received by then; 0 if there is none.</summary>
    public long RequestSince { get; set; }

    public long RequestMark { get; set; }

    /// <summary>If there is more input: when it arrived, as the clock's timestamp; 0 if it waits for the client to read.</summary>
    public long ArrivedTicks { get; set; }

    /// <summary>When output began to wait for the client, and the bytes delivered by then; 0 if none waits.</summary>
    public long BlockedSince { get; set; }

    public long BlockedMark { get; set; }

    /// <summary>When lingering ends.</summary>
    public long LingerUntil { get; set; }

    public long ConnectedTimestamp => _connectedTimestamp;

    public int InputBytes => _restEnd - _restStart + _chunkBytes;

    /// <summary>Bytes of memory that it takes and that cannot wait: input, what the session holds, what others sent to it. Any thread,
    /// approximately.</summary>
    public long HeldBytes => (_rest?.Length ?? 0) + Held.Bytes + PostedBytes;

    public ReadOnlySpan<byte> Input
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _chunkBytes != 0
            ? new ReadOnlySpan<byte>(_chunk, _chunkBytes) // I1: valid in this turn.
            : _rest is null ? [] : _rest.Span[_restStart.._restEnd];
    }

    /// <summary>Whether its session may take a hazard cell for longer than a command: not while other connections wait for one.</summary>
    public bool MayTakeCell => _worker.CellQueue.MayTake(this);

    /// <summary>The longest entry that its session may copy because no cell is free.</summary>
    public long MostCopied => Math.Min(
        _worker.Limits.OutputBytesPerConnection - Output.UnsentBytes - CopiedBytes, Held.RoomForCopy);

    /// <summary>Has the connection wait until a cell or memory may have come free. Its session leaves the request unconsumed, or keeps where
    /// its reply goes on, and is called again.</summary>
    public void WaitForCell() => _worker.BeginWaitForCell(this);

    /// <summary>A copy of a value was made for it, or freed.</summary>
    public void CountCopied(long bytes)
    {
        if (bytes != 0)
        {
            CopiedBytes += bytes;
            _worker.Pool.Account.Add(bytes);
            _worker.Pool.Account.AddReply(bytes); // A copy is a reply that is being read.
        }
    }

    /// <summary>Its session has released a cell or a copy.</summary>
    public void OnCellReleased() => _worker.CellQueue.ServeFirst();

    /// <summary>Has the worker run this soon, then send what it wrote to the output. Nothing happens if the connection has ended by
    /// then. Any thread. A delegate that is kept, such as a static lambda, saves its allocation.</summary>
    public void Post(Action<ClientConnection> onWorker) => _worker.Post(this, onWorker);

    /// <summary>Ends the connection, after its output was sent or at once, as the reason says. Any thread.</summary>
    public void Close(CloseReason reason) => _worker.Close(this, reason);

    /// <summary>Ends the connection for a request that is not of its protocol, after its output was sent, and tells of it. Worker only.</summary>
    public void Reject(ReadOnlySpan<byte> request)
    {
        _worker.ForeignClients.Tell(this, request);
        Close(CloseReason.ClosedBySession);
    }

    /// <summary>Bytes that its client has read; none if it was slow to read in the last seconds. What was sent just now does not count: the
    /// buffers of the system take some MiB that nobody reads.</summary>
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

    /// <summary>For how many milliseconds its client has not read what waits for it. Any thread, approximately.</summary>
    public long StalledMs(long now) => BlockedSince == 0 ? 0 : Math.Max(0, now - BlockedSince);

    /// <summary>Output waits for the client, as it may have done before. What it has read since gives it time anew.</summary>
    /// <returns>Whether that is new.</returns>
    public bool NoteBlocked(long now)
    {
        bool isNew = BlockedSince == 0;
        if (!isNew && now - BlockedSince < PromptMs)
        {
            return false;
        }

        // What the kernel has taken is not read: its buffer may hold some MiB, and it takes more only when much of that is gone.
        long delivered = BytesSent - Channel.UndeliveredBytes;
        if (isNew || delivered - BlockedMark >= RenewingBytes)
        {
            NoteSlow(now);
            BlockedSince = Math.Max(now, 1);
            BlockedMark = delivered;
        }

        return isNew;
    }

    /// <summary>No output waits for the client.</summary>
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

    /// <summary>The kernel took bytes.</summary>
    public void CountSent(long bytes)
    {
        BytesSent += bytes;
        _sentAt = _worker.Now;
        _worker.Recorder.BytesSent += bytes;
    }

    /// <summary>Takes bytes that arrived and stay where they are until the turn ends.</summary>
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

    /// <summary>The first bytes were executed; what is left of a chunk is kept.</summary>
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

    /// <summary>The turn ends, and with it the loop's buffer.</summary>
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
        // A request of known length gets its block at once if it is short. A long one gets it in steps, so that the announcement of
        // a value costs no memory before the value arrives.
        long atLeast = (long)length + more;
        long step = Math.Max(FirstStepBytes, StepFactor * (long)(_rest?.Length ?? 0));
        long wanted = Math.Max(atLeast, Math.Min(Math.Min(Session.NeededBytes, step), _worker.Limits.InputBytesPerConnection));
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
                    wanted = Math.Max(wanted, Math.Min(2L * rest.Length, _worker.Limits.InputBytesPerConnection));
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
