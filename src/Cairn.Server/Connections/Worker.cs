// A worker is a thread with an event loop and the connections assigned to it. It runs to completion: a turn collects the input of all
// connections, looks ahead over it, executes it, and sends one block of replies to each connection.
//
//   Collect --> for each group of ready connections: Prefetch, PrefetchFurther, Execute, Send
//           --> a share each for long replies, later connections, posted actions --> EndTurn --> deadlines
//
//   I1  Everything here happens on the worker's thread, except Post, Close and Wake.
//   I2  A connection is at most once in the list of ready or of later connections. Every turn serves all ready connections. A
//       connection is later if it has more to do than a turn allows, or if it did much when it was last served (TurnShare).
//   I3  Before the thread sleeps, it sets a flag and then checks for posts once more. A thread that posts checks the flag
//       afterwards. So at least one of the two sees the other.
//   I4  Code on a worker never waits for something that only a worker can release: a hazard cell that holds a client's value, room
//       in a client's output, memory of buffers, another connection's turn. The connection waits instead (CellQueue).
//   I5  Work that may take long has a share of each turn, after the ready connections: long replies, later connections, posted
//       actions. A share ends with the piece of work that exceeds it. So a short request waits for at most one share of each
//       kind, and for other short requests. Replies to ready connections are sent before that work.
//   I6  Each share has a first-in, first-out queue, and a turn that gives the share takes at least the first piece. So long
//       work makes progress, however many short requests arrive.
using System.Collections.Concurrent;
using Cairn.Platform;
using Cairn.Server.Buffers;
using Cairn.Server.Io;
using Cairn.Server.Listening;
using Cairn.Server.Logging;
using Cairn.Server.Metrics;
using Cairn.Server.Timing;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Connections;

internal sealed unsafe partial class Worker : IIoWorker
{
    private const int AcceptRetryMs = 100;
    private const int AcceptLogMs = 10_000;

    // A message to thousands of subscribers is one post for each. PostBytes is the cost of a post in bytes, in addition to the bytes
    // that it writes.
    private const int PostBytes = 1 << 10;
    private const int LeastPostShareBytes = 8 << 10;

    // The interval at which a worker whose connections wait for a cell checks for one that was released without notice (CellQueue Q3).
    private const int CellLookMs = 10;

    private readonly ConcurrentQueue<Posted> _posts = new();
    private readonly ServerEngine _engine;
    private readonly IoLoop _loop;
    private readonly Thread _thread;
    private readonly TaskCompletionSource _opened = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private ClientConnection[] _connections = new ClientConnection[16];
    private int _connectionCount; // Connections assigned; some may not have arrived yet.
    private int _listed; // Connections in the list.
    private int _closingChannels;
    private DeadlineWheel<ClientConnection> _deadlines = null!; // Created by the thread.
    private long _awakeTicks;
    private long _turn;
    private long _quietTurns; // Since there was a ready connection.
    private bool _isAllCollected = true;
    private long _acceptRetryAt;
    private long _acceptFailureLoggedAt;
    private int _waitingForCell;
    private long _cellLookAt;
    private int _isSleeping;
    private ClientConnection? _current; // The connection whose code runs now.
    private CloseReason _closeCurrent;
    private bool _isRunning = true;

    public Worker(ServerEngine engine, int index, IoLoop loop)
    {
        _engine = engine;
        _loop = loop;
        Index = index;
        Limits = engine.Limits;
        Clock = engine.Clock;
        Log = engine.Log;
        ForeignClients = engine.ForeignClients;
        Pool = new BlockPool(engine.Memory);
        Arena = new OutputArena(Pool);
        LongReplies = new LongReplies(Pool.Account);
        _thread = new Thread(Run) { Name = $"cairn-worker-{index}", IsBackground = true };
    }

    public int Index { get; }

    public ConnectionLimits Limits { get; }

    public TimeProvider Clock { get; }

    public ILogger Log { get; }

    /// <summary>Gets the log of clients that speak another protocol than their port.</summary>
    public ForeignClients ForeignClients { get; }

    public BlockPool Pool { get; }

    public OutputArena Arena { get; }

    /// <summary>Gets the rule that decides which long replies are created in this turn.</summary>
    public LongReplies LongReplies { get; }

    public CellQueue CellQueue => _engine.CellQueue;

    public IoLoop Loop => _loop;

    /// <summary>Gets the recorder of this worker's metrics. Worker only.</summary>
    public RequestRecorder Recorder { get; private set; } = null!; // Created by the thread.

    /// <summary>Gets the time of this turn, in milliseconds of a monotonic clock.</summary>
    public long Now { get; private set; }

    /// <summary>Gets the number of connections assigned to this worker. Thread-safe, approximate.</summary>
    public int Load => Volatile.Read(ref _connectionCount);

    /// <summary>Gets whether the worker finishes the requests that have arrived, and then ends.</summary>
    public bool IsDraining => _drainUntil != 0;

    public bool IsCurrentThread => ReferenceEquals(Thread.CurrentThread, _thread);

#pragma warning disable VSTHRD003 // The worker's thread never waits for the code that awaits these tasks.
    /// <summary>Gets a task that completes when the loop works, or fails with the reason why it does not.</summary>
    public Task Opened => _opened.Task;

    /// <summary>Gets a task that completes when the thread has closed everything.</summary>
    public Task Ended => _ended.Task;
#pragma warning restore VSTHRD003

    public void Start()
    {
        if (!BackgroundThread.TryStart(_thread))
        {
            _opened.SetException(new ServerException(
                "The system refuses the thread of a worker. Raise the limit of processes ('ulimit -u', TasksMax= in a unit of systemd, --pids-limit for a " +
                "container), or start fewer workers (-t)."));
            _ended.SetResult();
        }
    }

    /// <summary>Reads the clock after the loop has waited, before the loop reports its events.</summary>
    public void OnAwake()
    {
        _awakeTicks = Clock.GetTimestamp();
        Now = Clock.ToMilliseconds(_awakeTicks);
    }

    /// <summary>Runs the action on the worker, unless the connection has ended by then. Thread-safe.</summary>
    public void Post(ClientConnection connection, Action<ClientConnection> action) =>
        Post(new Posted { Connection = connection, OnConnection = action });

    /// <summary>Runs the action on the worker. Thread-safe.</summary>
    public void Post(Action action) => Post(new Posted { OnWorker = action });

    /// <summary>Assigns a new connection to the worker. Thread-safe.</summary>
    public void Deal(Listener listener, AcceptedSocket socket)
    {
        // Counted before it arrives, because the acceptor chooses the worker with the fewest connections.
        Interlocked.Increment(ref _connectionCount);
        if (IsCurrentThread)
        {
            Adopt(listener, socket);
        }
        else
        {
            Post(new Posted { Listener = listener, Socket = socket });
        }
    }

    /// <summary>Closes the connection for the reason. Thread-safe.</summary>
    public void Close(ClientConnection connection, CloseReason reason)
    {
        if (ReferenceEquals(connection, _current))
        {
            _closeCurrent = reason; // Its session is running and may still write.
            connection.CloseReason = reason;
        }
        else if (IsCurrentThread)
        {
            BeginClose(connection, reason);
        }
        else
        {
            Post(connection, c => BeginClose(c, reason));
        }
    }

    /// <summary>Makes the worker read the clock and check its deadlines now. Thread-safe.</summary>
    public void Wake() => Post(OnAwake);

    /// <summary>Handles a client that the loop accepted.</summary>
    public void OnAccepted(Listener listener, AcceptedSocket socket) => _engine.Deal(listener, socket);

    /// <summary>Logs that the loop cannot accept clients, because descriptors or memory ran out, and schedules the next attempt.</summary>
    public void OnAcceptFailed(Listener listener, string reason)
    {
        if (Now >= _acceptFailureLoggedAt + AcceptLogMs || _acceptFailureLoggedAt == 0)
        {
            _acceptFailureLoggedAt = Math.Max(Now, 1);
            Log.Write(
                LogLevel.Error,
                $"No client of '{listener.Name}' can be accepted: {reason}. It is tried again every {AcceptRetryMs} ms. " +
                "If there are too few descriptors, raise 'ulimit -n' (LimitNOFILE of the service).");
        }

        _acceptRetryAt = Now + AcceptRetryMs;
    }

    private void Post(in Posted posted)
    {
        _posts.Enqueue(posted);

        // Full fence (the exchange); pairs with the one in Collect (I3). Without it, this thread could read the flag before its post is
        // visible, and the worker would sleep with a post in its queue.
        if (Interlocked.Exchange(ref _isSleeping, 0) != 0)
        {
            _loop.Wake();
        }
    }

    private void Run()
    {
        try
        {
            OnAwake();
            Recorder = _engine.Metrics.OfThisThread;
            _deadlines = new DeadlineWheel<ClientConnection>(Now);
            _loop.Open(this);
        }
        catch (Exception e) when (e is ServerException or OutOfMemoryException)
        {
            _opened.SetException(e as ServerException ?? new ServerException(
                "The system refuses the memory of a worker. Raise the limits on memory ('ulimit -v', or that of the container), or start fewer workers (-t).", e));
            _ended.SetResult();
            return;
        }

        _opened.SetResult();
        while (_isRunning)
        {
            Turn();
        }

        _loop.Dispose();
        Arena.Trim();
        Pool.Clear();
        _ended.SetResult();
    }

    private void Turn()
    {
        _turn++;
        Collect();
        Arena.FullAt = Pool.Account.IsShort ? OutputBuffer.FullBytesWhenShort : OutputBuffer.FullBytes;
        LongReplies.Begin();
        int ready = _readyCount;
        ServeReady();
        ServeThoseWithMemory();
        ServeLater();
        RunPosts(ready);
        _hasReplies = false;
        _loop.EndTurn();
        MeetDeadlines();
        TrimIfDue();
        if (_loop.IsAcceptPaused && Now >= _acceptRetryAt)
        {
            _acceptRetryAt = Now + AcceptRetryMs;
            _loop.RetryAccept();
        }

        if (_waitingForCell > 0 && Now >= _cellLookAt)
        {
            _cellLookAt = Now + CellLookMs;
            CellQueue.ServeFirst();
        }

        if (_drainUntil != 0)
        {
            Drain();
        }
    }

    private void Collect()
    {
        int timeoutMs = MillisecondsToWait();
        if (timeoutMs == 0)
        {
            _isAllCollected = _loop.Collect(0);
            return;
        }

        // Full fence (the exchange); pairs with the one in Post (I3). Without it, the worker could check the queue before the flag is
        // visible, and a post in between would wait until the sleep ends.
        Interlocked.Exchange(ref _isSleeping, 1);
        _isAllCollected = _loop.Collect(_posts.IsEmpty ? timeoutMs : 0);

        // A stale 1 only costs an unnecessary wake-up.
        Volatile.Write(ref _isSleeping, 0);
    }

    private int MillisecondsToWait()
    {
        if (_readyCount > 0 || _later.Count > 0 || _hasMemoryForNext || !_isAllCollected || !_posts.IsEmpty)
        {
            return 0;
        }

        int timeoutMs = Least(Least(_deadlines.MillisecondsToNext(Now), MillisecondsToMemory()), MillisecondsToTrim());
        if (_loop.IsAcceptPaused)
        {
            timeoutMs = Least(timeoutMs, (int)Math.Max(1, _acceptRetryAt - Now));
        }

        if (_waitingForCell > 0)
        {
            timeoutMs = Least(timeoutMs, CellLookMs);
        }

        return _drainUntil != 0 ? Least(timeoutMs, MillisecondsToDrain()) : timeoutMs;
    }

    // A negative time means no timeout.
    private static int Least(int first, int second) => first < 0 ? second : second < 0 ? first : Math.Min(first, second);

    // Beside few short requests, the share is small: they come in many turns, and each of them waits for it. Beside many it is larger, so
    // that posts keep up with requests, and also after many turns without any.
    private void RunPosts(int ready)
    {
        _quietTurns = ready == 0 ? _quietTurns + 1 : 0;
        long room = Math.Clamp(Math.Max(ready, _quietTurns) * PostBytes, LeastPostShareBytes, TurnShare.Bytes);
        for (int i = 0; room > 0 && _posts.TryDequeue(out Posted posted); i++)
        {
            if (i == 1)
            {
                SendFirst();
            }

            room -= PostBytes;
            if (posted.Connection is { } connection)
            {
                room -= RunPost(connection, posted.OnConnection!);
            }
            else if (posted.Listener is { } listener)
            {
                Adopt(listener, posted.Socket);
            }
            else
            {
                posted.OnWorker!();
            }
        }
    }

    // Returns the number of bytes that the action wrote.
    private long RunPost(ClientConnection connection, Action<ClientConnection> action)
    {
        if (connection.State != ConnectionState.Open)
        {
            return 0;
        }

        _current = connection;
        long before = connection.Output.UnsentBytes;
        try
        {
            action(connection);
        }
#pragma warning disable CA1031 // An exception in the code of one connection ends that connection, never the server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            OnSessionFailed(connection, e);
        }

        long written = connection.Output.UnsentBytes - before;
        connection.PostedBytes += written;
        LeaveCurrent();
        SendAndSettle(connection);
        return Math.Max(written, 0);
    }

    // Ends the run of a connection's code, which may have requested the connection's end.
    private void LeaveCurrent()
    {
        ClientConnection connection = _current!;
        _current = null;
        if (_closeCurrent != CloseReason.None)
        {
            CloseReason reason = _closeCurrent;
            _closeCurrent = CloseReason.None;
            BeginClose(connection, reason);
        }
    }

    private void Adopt(Listener listener, AcceptedSocket socket)
    {
        if (!_isRunning || _drainUntil != 0)
        {
            socket.Refuse([]);
            Forget();
            return;
        }

        ListenerService service = _engine.ServiceOf(listener);
        var connection = new ClientConnection(this, _engine.NextConnectionId(), listener) { Spoken = service.Sessions.Spoken };
        try
        {
            connection.Session = service.Sessions.Create(connection);
        }
#pragma warning disable CA1031 // A session that cannot be created costs its client the connection, never the server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            Log.Write(LogLevel.Error, $"A connection to '{listener.Name}' got no session: {e}");
            socket.Refuse([]);
            Forget();
            return;
        }

        connection.Channel = _loop.Adopt(socket, connection);
        Add(connection);
        _engine.OnConnected(connection);
        if (service.Certificates is { } certificates)
        {
            connection.StartTls(certificates);
        }

        connection.Channel.Start();
        connection.Session.OnOpened();
        SendAndSettle(connection); // Sends a greeting, if the session wrote one.
        if (connection.State != ConnectionState.Closed)
        {
            ScheduleDeadline(connection);
        }

        void Forget()
        {
            Interlocked.Decrement(ref _connectionCount);
            _engine.OnGone();
        }
    }

    private void Add(ClientConnection connection)
    {
        int index = _listed++;
        if (index == _connections.Length)
        {
            Array.Resize(ref _connections, 2 * index);
        }

        connection.WorkerIndex = index;
        _connections[index] = connection;
    }

    private void Remove(ClientConnection connection)
    {
        ClientConnection last = _connections[--_listed];
        last.WorkerIndex = connection.WorkerIndex;
        _connections[connection.WorkerIndex] = last;
        _connections[_listed] = null!;
    }

    [StructLayout(LayoutKind.Auto)]
    private struct Posted
    {
        public ClientConnection? Connection;
        public Action<ClientConnection>? OnConnection;
        public Listener? Listener;
        public AcceptedSocket Socket;
        public Action? OnWorker;
    }
}
