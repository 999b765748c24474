// A worker is a thread with a loop and the connections that were dealt to it. It runs to completion: a turn collects what
// arrived on all connections, looks ahead over it, executes it, and sends one block of replies to each.
//
//   Collect --> posted actions --> for each group: Prefetch, PrefetchFurther, Execute, Send --> EndTurn --> deadlines
//
//   I1  Everything here happens on the worker's thread, except Post, Close and Wake.
//   I2  A connection is in the list of the ready or in that of the later at most once. Every turn serves all who are ready;
//       whoever has more to do than a turn allows is later, and comes again when all that had arrived was collected and
//       served, or after a few turns.
//   I3  Before the thread sleeps it says so, and then looks for posts once more; whoever posts looks whether it sleeps
//       afterwards. So one of the two sees the other.
//   I4  Code on a worker never waits for something that only a worker can release: a hazard cell that holds a client's value, room in
//       a client's output, memory of buffers, another connection's turn. The connection waits instead (CellQueue).
using System.Collections.Concurrent;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Cairn.Server.Io;
using Cairn.Server.Limits;
using Cairn.Server.Listening;
using Cairn.Server.Metrics;
using Cairn.Server.Tls;

namespace Cairn.Server.Connections;

internal sealed unsafe partial class Worker
{
    private const int AcceptRetryMs = 100;
    private const int AcceptLogMs = 10_000;

    // A message to thousands of subscribers is a post for each. Requests that arrive meanwhile wait for these at most.
    private const int PostsPerTurn = 32;

    // How often a worker whose connections wait for a cell looks for one that was released unseen (CellQueue Q3).
    private const int CellLookMs = 10;

    private readonly ConcurrentQueue<Posted> _posts = new();
    private readonly ServerEngine _engine;
    private readonly IoLoop _loop;
    private readonly Thread _thread;
    private readonly TaskCompletionSource _opened = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private ClientConnection[] _connections = new ClientConnection[16];
    private int _connectionCount; // Those dealt, some of which may not have arrived.
    private int _listed; // Those in the list.
    private int _closingChannels;
    private DeadlineWheel _deadlines = null!; // Made by the thread.
    private long _awakeTicks;
    private long _turn;
    private bool _isAllCollected = true;
    private long _acceptRetryAt;
    private long _acceptFailureLoggedAt;
    private int _waitingForCell;
    private long _cellLookAt;
    private int _isSleeping;
    private ClientConnection? _current; // Whose code is running.
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
        _thread = new Thread(Run) { Name = $"cairn-worker-{index}", IsBackground = true };
    }

    public int Index { get; }

    public ConnectionLimits Limits { get; }

    public TimeProvider Clock { get; }

    public ServerLog Log { get; }

    /// <summary>Told of clients that speak what their port does not.</summary>
    public ForeignClients ForeignClients { get; }

    public BlockPool Pool { get; }

    public OutputArena Arena { get; }

    public CellQueue CellQueue => _engine.CellQueue;

    public IoLoop Loop => _loop;

    /// <summary>Where this worker records what it does. Worker only.</summary>
    public RequestRecorder Recorder { get; private set; } = null!; // Made by the thread.

    /// <summary>The time of this turn, in milliseconds of a clock that is never set.</summary>
    public long Now { get; private set; }

    /// <summary>Connections dealt to it. Any thread, approximately.</summary>
    public int Load => Volatile.Read(ref _connectionCount);

    /// <summary>Whether it finishes what was received, to end then.</summary>
    public bool IsDraining => _drainUntil != 0;

    public bool IsCurrentThread => ReferenceEquals(Thread.CurrentThread, _thread);

#pragma warning disable VSTHRD003 // The worker's thread waits for nobody who could wait for these.
    /// <summary>Completes when the loop works, or fails with the reason why it does not.</summary>
    public Task Opened => _opened.Task;

    /// <summary>Completes when the thread has closed everything.</summary>
    public Task Ended => _ended.Task;
#pragma warning restore VSTHRD003

    public void Start() => _thread.Start();

    /// <summary>The loop has waited, and is about to tell what happened.</summary>
    public void OnAwake()
    {
        _awakeTicks = Clock.GetTimestamp();
        Now = Clock.ToMilliseconds(_awakeTicks);
    }

    /// <summary>Runs the action on the worker, unless the connection has ended by then. Any thread.</summary>
    public void Post(ClientConnection connection, Action<ClientConnection> action) =>
        Post(new Posted { Connection = connection, OnConnection = action });

    /// <summary>Runs the action on the worker. Any thread.</summary>
    public void Post(Action action) => Post(new Posted { OnWorker = action });

    /// <summary>Gives the worker a new connection. Any thread.</summary>
    public void Deal(Listener listener, AcceptedSocket socket)
    {
        // Counted before it arrives: the acceptor deals to who has fewest.
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

    /// <summary>Any thread.</summary>
    public void Close(ClientConnection connection, CloseReason reason)
    {
        if (ReferenceEquals(connection, _current))
        {
            _closeCurrent = reason; // Its session is at work and may still write.
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

    /// <summary>Has the worker look at the time and at its deadlines now. Any thread.</summary>
    public void Wake() => Post(OnAwake);

    /// <summary>The loop accepted a client.</summary>
    public void OnAccepted(Listener listener, AcceptedSocket socket) => _engine.Deal(listener, socket);

    /// <summary>The loop accepts nobody for a while: descriptors or memory ran out.</summary>
    public void OnAcceptFailed(Listener listener, string reason)
    {
        if (Now >= _acceptFailureLoggedAt + AcceptLogMs || _acceptFailureLoggedAt == 0)
        {
            _acceptFailureLoggedAt = Math.Max(Now, 1);
            Log.Write(
                ServerLogLevel.Error,
                $"No client of '{listener.Name}' can be accepted: {reason}. It is tried again every {AcceptRetryMs} ms. " +
                "If files are what lacks, raise 'ulimit -n' (LimitNOFILE of the service).");
        }

        _acceptRetryAt = Now + AcceptRetryMs;
    }

    private void Post(in Posted posted)
    {
        _posts.Enqueue(posted);

        // Full fence (the exchange); pairs with the one in Collect (I3). Without it, the flag could be read before the post
        // can be seen, and the worker would sleep with a post in its queue.
        if (Interlocked.Exchange(ref _isSleeping, 0) != 0)
        {
            _loop.Wake();
        }
    }

    private void Run()
    {
        OnAwake();
        Recorder = _engine.Metrics.OfThisThread;
        _deadlines = new DeadlineWheel(Now);
        try
        {
            _loop.Open(this);
        }
        catch (ServerException e)
        {
            _opened.SetException(e);
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
        RunPosts();
        ReadyThoseWithMemory();
        ServeReady();
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

        // Full fence (the exchange); pairs with the one in Post (I3). Without it, the queue could be looked at before the flag
        // can be seen, and a post in between would wait for the end of the sleep.
        Interlocked.Exchange(ref _isSleeping, 1);
        _isAllCollected = _loop.Collect(_posts.IsEmpty ? timeoutMs : 0);

        // A stale 1 costs a needless wake-up.
        Volatile.Write(ref _isSleeping, 0);
    }

    private int MillisecondsToWait()
    {
        if (_readyCount > 0 || _laterCount > 0 || !_isAllCollected || !_posts.IsEmpty)
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

    // A negative time is none.
    private static int Least(int first, int second) => first < 0 ? second : second < 0 ? first : Math.Min(first, second);

    private void RunPosts()
    {
        // Bounded, or posts that cause posts would keep the connections waiting.
        for (int i = 0; i < PostsPerTurn && _posts.TryDequeue(out Posted posted); i++)
        {
            if (posted.Connection is { } connection)
            {
                RunPost(connection, posted.OnConnection!);
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

    private void RunPost(ClientConnection connection, Action<ClientConnection> action)
    {
        if (connection.State != ConnectionState.Open)
        {
            return;
        }

        _current = connection;
        long before = connection.Output.UnsentBytes;
        try
        {
            action(connection);
        }
#pragma warning disable CA1031 // Whatever goes wrong in one connection's business ends that connection, never the server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            OnSessionFailed(connection, e);
        }

        connection.PostedBytes += connection.Output.UnsentBytes - before;
        LeaveCurrent();
        SendAndSettle(connection);
    }

    // The code of a connection has run, and may have asked for its end.
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

        var connection = new ClientConnection(this, _engine.NextConnectionId(), listener.Name) { Spoken = listener.Sessions.Spoken };
        try
        {
            connection.Session = listener.Sessions.Create(connection);
        }
#pragma warning disable CA1031 // A session that cannot be made costs its client, never the server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            Log.Write(ServerLogLevel.Error, $"A connection to '{listener.Name}' got no session: {e}");
            socket.Refuse([]);
            Forget();
            return;
        }

        connection.Channel = _loop.Adopt(socket, connection);
        Add(connection);
        _engine.OnConnected(connection);
        if (listener.Tls is { } certificates)
        {
            connection.Tls = new TlsFilter(this, connection);
            connection.Tls.Start(certificates);
        }

        connection.Channel.Start();

        SendAndSettle(connection); // A greeting, if the session wrote one.
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
