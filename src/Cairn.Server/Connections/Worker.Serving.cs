using System.Runtime.CompilerServices;
using Cairn.Server.Io;
using Cairn.Server.Metrics;

namespace Cairn.Server.Connections;

// Serving: from bytes that arrived to replies on their way.
internal sealed unsafe partial class Worker
{
    // Connections that are looked ahead over together, and their bytes: enough to overlap the memory fetches, few enough
    // that the first ones fetched are still in the cache when they are used.
    private const int GroupConnections = 32;
    private const int GroupBytes = 8 << 10;

    // A single request is executed as soon as it could be looked ahead over.
    private const int PrefetchBytes = 64;

    // Input that waits for its turn from which on nothing more is received.
    private const int WaitingInputBytes = 64 << 10;

    // Turns after which those who have more to do come again although there is always somebody new.
    private const int LongestWaitTurns = 8;

    private ClientConnection[] _ready = new ClientConnection[16];
    private ClientConnection[] _serving = new ClientConnection[16];
    private ClientConnection[] _later = new ClientConnection[16];
    private int _readyCount;
    private int _laterCount;
    private int _laterTurns;

    /// <summary>Bytes arrived; they stay where they are until the turn ends.</summary>
    public void OnReceived(ClientConnection connection, byte* bytes, int count)
    {
        if (connection.BytesReceived == 0)
        {
            ForeignClients.Look(connection, new ReadOnlySpan<byte>(bytes, count));
        }

        connection.BytesReceived += count;
        Recorder.BytesReceived += count;
        connection.LastActivity = Now;
        connection.LastInputTurn = _turn;
        if (connection.State != ConnectionState.Open)
        {
            return; // Lingering: the client is still sending, and nobody listens.
        }

        if (connection.Tls is { } tls)
        {
            tls.Receive(bytes, count);
            return;
        }

        connection.TakeChunk(bytes, count);
        MakeReady(connection);
    }

    /// <summary>The client will send nothing more.</summary>
    public void OnInputEnded(ClientConnection connection)
    {
        connection.IsInputEnded = true;
        if (connection.State == ConnectionState.Lingering)
        {
            CloseChannel(connection, isHard: false);
        }
        else if (connection.Tls is { } tls)
        {
            tls.EndInput();
        }
        else
        {
            MakeReady(connection); // What came before is executed and answered first.
        }
    }

    /// <summary>The connection broke.</summary>
    public void OnReset(ClientConnection connection)
    {
        if (connection.CloseReason == CloseReason.None)
        {
            connection.CloseReason = CloseReason.Reset;
        }

        CloseChannel(connection, isHard: true);
    }

    /// <summary>Output that had to wait was sent, some or all.</summary>
    public void OnSent(ClientConnection connection)
    {
        if (connection.State != ConnectionState.Closed)
        {
            Settle(connection);
        }
    }

    /// <summary>Has the connection served in this turn or the next, or later if it was to be served later anyway.</summary>
    public void MakeReady(ClientConnection connection) => List(connection, ref _ready, ref _readyCount);

    /// <summary>The handshake failed, or what arrived cannot be decrypted. What TLS has to say about it is sent first.</summary>
    public void OnTlsFailed(ClientConnection connection, Exception e)
    {
        _engine.OnTlsFailed(connection, e);
        BeginClose(connection, CloseReason.TlsFailed);
    }

    /// <summary>The session at work leaves its request until a cell or memory may have come free.</summary>
    public void BeginWaitForCell(ClientConnection connection)
    {
        if (!connection.IsWaiting)
        {
            connection.IsWaiting = true;
            _waitingForCell++;
            BeginWaitWithCredit(connection, connection.Held.Credit >= OutputBuffer.FullBytes);
        }

        CellQueue.Join(connection);
    }

    /// <summary>Has a connection that waits, for a cell or for another thread, served again.</summary>
    public void EndWait(ClientConnection connection)
    {
        if (connection.IsWaiting)
        {
            connection.IsWaiting = false;
            _waitingForCell -= connection.CellQueueNode is null ? 0 : 1;
            EndWaitWithCredit(connection);
        }
    }

    // Its request waits for another thread, and not for a cell.
    private static bool IsAwaitingThread(ClientConnection connection) => connection is { IsWaiting: true, CellQueueNode: null };

    private static void List(ClientConnection connection, ref ClientConnection[] list, ref int count)
    {
        if (connection.IsReady || connection.State == ConnectionState.Closed)
        {
            return;
        }

        connection.IsReady = true;
        if (count == list.Length)
        {
            Array.Resize(ref list, 2 * count);
        }

        list[count++] = connection;
    }

    // I2
    private void ReadyThoseOfLater()
    {
        if (_laterCount == 0 || (!_isAllCollected && ++_laterTurns < LongestWaitTurns))
        {
            return;
        }

        _laterTurns = 0;
        int count = _readyCount + _laterCount;
        if (count > _ready.Length)
        {
            Array.Resize(ref _ready, Math.Max(count, 2 * _ready.Length));
        }

        Array.Copy(_later, 0, _ready, _readyCount, _laterCount);
        Array.Clear(_later, 0, _laterCount);
        _readyCount = count;
        _laterCount = 0;
    }

    private void ServeReady()
    {
        ReadyThoseOfLater();
        int count = _readyCount;
        if (count == 0)
        {
            return;
        }

        (_ready, _serving) = (_serving, _ready);
        _readyCount = 0;
        long began = _awakeTicks;
        for (int next = 0; next < count;)
        {
            int start = next;
            int bytes = 0;
            long arrived = ArrivalOf(_serving[start]);
            while (next < count && next - start < GroupConnections && bytes < GroupBytes && ArrivalOf(_serving[next]) == arrived)
            {
                ClientConnection connection = _serving[next++];
                connection.IsReady = false;
                bytes += connection.InputBytes;
            }

            ReadOnlySpan<ClientConnection> group = _serving.AsSpan(start, next - start);
            Serve(group, bytes);
            began = Record(group, arrived, began);
        }

        Array.Clear(_serving, 0, count);
    }

    // Whoever did not get through in an earlier turn has waited since then, unless it was for the client itself to read. What is
    // incomplete arrives with its last bytes.
    private long ArrivalOf(ClientConnection connection) =>
        connection.HasMoreInput && connection.ArrivedTicks != 0 ? connection.ArrivedTicks : _awakeTicks;

    // One look at the clock for all that was done together. Returns when the next group begins.
    private long Record(ReadOnlySpan<ClientConnection> group, long arrived, long began)
    {
        if (!Recorder.HasPending)
        {
            return began;
        }

        long now = Clock.GetTimestamp();
        TimeSpan slow = Recorder.EndBatch(arrived, began, now);
        if (slow != TimeSpan.Zero)
        {
            NoteSlowBatch(group, slow);
        }

        return now;
    }

    // Something in the batch took long. What it was is not known; if it happens again soon, it will be.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void NoteSlowBatch(ReadOnlySpan<ClientConnection> group, TimeSpan duration)
    {
        string clients = group.Length == 1 ? group[0].RemoteText : $"{group[0].RemoteText} and {group.Length - 1} more";
        Recorder.AddSlow(new SlowRequest
        {
            At = Clock.GetUtcNow(),
            Duration = duration,
            Protocol = group[0].ListenerName,
            Client = clients,
            Arguments = ["(batch)"u8.ToArray()],
        });
    }

    private void Serve(ReadOnlySpan<ClientConnection> group, int bytes)
    {
        if (bytes >= PrefetchBytes || Recorder.Keys.IsWatched)
        {
            LookAhead(group);
        }

        foreach (ClientConnection connection in group)
        {
            Execute(connection);
        }

        foreach (ClientConnection connection in group)
        {
            SendAndSettle(connection);
        }
    }

    private void LookAhead(ReadOnlySpan<ClientConnection> group)
    {
        try
        {
            foreach (ClientConnection connection in group)
            {
                if (CanExecute(connection))
                {
                    _current = connection;
                    connection.Session.Prefetch(connection.Input);
                }
            }

            foreach (ClientConnection connection in group)
            {
                if (CanExecute(connection))
                {
                    _current = connection;
                    connection.Session.PrefetchFurther();
                }
            }
        }
#pragma warning disable CA1031 // Whatever goes wrong in one connection's business ends that connection, never the server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            OnSessionFailed(_current!, e);
            LeaveCurrent();
        }

        _current = null;
    }

    private static bool CanExecute(ClientConnection connection) =>
        connection.State == ConnectionState.Open &&
        connection.InputBytes > 0 &&
        !connection.IsWaiting &&
        connection.InputBytes >= connection.Session.NeededBytes &&
        !connection.Output.IsFull &&
        !connection.IsAwaitingMemory;

    private void Execute(ClientConnection connection)
    {
        if (connection.State != ConnectionState.Open)
        {
            connection.DropInput();
            return;
        }

        if (!CanExecute(connection))
        {
            connection.KeepChunk();
            connection.HasMoreInput = connection.InputBytes > 0 &&
                (connection.Output.IsFull || connection.IsWaiting || connection.Session.HasUnfinishedRequest);
            connection.ArrivedTicks = 0;
            NoteRequest(connection, hasConsumed: false);
            return;
        }

        int consumed = 0;
        _current = connection;
        connection.Held.Credit = connection.CreditAt(Now);
        try
        {
            consumed = ExecuteInput(connection);
        }
#pragma warning disable CA1031 // Whatever goes wrong in one connection's business ends that connection, never the server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            OnSessionFailed(connection, e);
        }

        connection.Output.CloseSegment();
        LeaveCurrent();
        if (connection.State != ConnectionState.Open)
        {
            connection.DropInput();
            return;
        }

        int left = connection.InputBytes;
        long arrived = ArrivalOf(connection);
        bool mustWait = connection.Output.IsFull || connection.IsWaiting || connection.Session.HasUnfinishedRequest;
        connection.HasMoreInput = left > 0 && (mustWait || (consumed > 0 && left >= connection.Session.NeededBytes));
        if (connection.HasMoreInput)
        {
            connection.ArrivedTicks = mustWait ? 0 : arrived;
        }

        if (connection.CellQueueNode is not null && !connection.IsWaiting)
        {
            CellQueue.Leave(connection);
        }

        NoteRequest(connection, consumed > 0);
    }

    private int ExecuteInput(ClientConnection connection)
    {
        while (true)
        {
            Session session = connection.Session;
            int there = connection.InputBytes;
            int consumed = session.Execute(connection.Input, connection.Output, Limits.RequestsPerTurn);
            if ((uint)consumed > (uint)there)
            {
                throw new InvalidOperationException($"{session.GetType()} consumed {consumed} of {there} bytes.");
            }

            connection.Consume(consumed);
            if (ReferenceEquals(session, connection.Session) || !CanExecute(connection))
            {
                return consumed;
            }
        }
    }

    // An incomplete request has a time to become complete in, and a size to stay below.
    private void NoteRequest(ClientConnection connection, bool hasConsumed)
    {
        int left = connection.InputBytes;
        if (left == 0 || connection.HasMoreInput)
        {
            connection.RequestSince = 0;
            return;
        }

        int limit = Limits.InputBytesPerConnection;
        if (connection.Session.NeededBytes > limit || left >= limit)
        {
            Fail(connection, CloseReason.RequestTooLarge);
            return;
        }

        if (hasConsumed || connection.RequestSince == 0)
        {
            connection.RequestSince = Math.Max(Now, 1);
            connection.RequestMark = connection.BytesReceived;
            ScheduleDeadline(connection);
        }
    }

    /// <summary>Sends what the connection's output holds, then does what the connection's state asks for.</summary>
    public void SendAndSettle(ClientConnection connection)
    {
        if (connection.State == ConnectionState.Closed)
        {
            return;
        }

        connection.Output.CloseSegment();
        if (connection.Tls is { } tls)
        {
            tls.Encrypt(isLast: connection.State != ConnectionState.Open);
            connection.WireOutput.CloseSegment();
        }

        if (connection.WireOutput.First is not null)
        {
            connection.Channel.Send();
        }

        Settle(connection);
    }

    // What follows from what a connection holds now: serve it again, stop or go on receiving, close it. Changes nothing when
    // nothing has changed.
    private void Settle(ClientConnection connection)
    {
        if (connection.State is ConnectionState.Closed or ConnectionState.Lingering)
        {
            return;
        }

        long unsent = connection.Output.UnsentBytes;
        NoteBlocked(connection, unsent);
        if (connection.State == ConnectionState.Closing)
        {
            if (unsent == 0)
            {
                FinishClosing(connection);
            }

            return;
        }

        // Replies stop at a full output. Messages do not.
        connection.PostedBytes = Math.Min(connection.PostedBytes, unsent);
        if (connection.PostedBytes > Limits.OutputBytesPerConnection)
        {
            Fail(connection, CloseReason.TooMuchOutput);
            return;
        }

        if (_engine.Memory.IsHeldExceeded && HoldsMuch(connection))
        {
            ClientConnection greediest = _engine.FindGreediest() ?? connection;
            if (greediest == connection)
            {
                Fail(connection, CloseReason.OutOfMemory);
                return;
            }

            greediest.Close(CloseReason.OutOfMemory);
        }

        if (connection.IsInputEnded && IsAwaitingThread(connection))
        {
            BeginClose(connection, CloseReason.ClosedByClient); // The client has most likely gone, and others wait for the same.
            return;
        }

        if (connection.HasMoreInput)
        {
            if (connection.Session.AwaitedBytes > 0 && !connection.Held.MayReply(connection.Session.AwaitedBytes))
            {
                AwaitMemory(connection);
            }
            else if (!connection.Output.IsFull && !connection.IsAwaitingMemory && !connection.IsWaiting)
            {
                List(connection, ref _later, ref _laterCount);
            }
        }
        else if (connection.IsInputEnded && unsent == 0 && !connection.IsReady)
        {
            BeginClose(connection, CloseReason.ClosedByClient);
            return;
        }

        // Blocked, not only full: a client that keeps reading takes a full output at once, and receiving goes on. What was
        // paused stays so until most is gone, because pausing has its price.
        int share = connection.IsReceivePaused ? 4 : 1;
        bool mustPause = (connection.Channel.IsBlocked && unsent >= OutputBuffer.FullBytes / share) ||
            (connection.HasMoreInput && connection.InputBytes >= WaitingInputBytes / share);
        if (mustPause != connection.IsReceivePaused)
        {
            connection.IsReceivePaused = mustPause;
            if (mustPause)
            {
                connection.Channel.PauseReceive();
            }
            else
            {
                connection.Channel.ResumeReceive();
            }
        }
    }

    // More than a request usually needs, of what cannot wait.
    private static bool HoldsMuch(ClientConnection connection) =>
        connection.HeldBytes >= ConnectionLimits.SmallestBytesPerConnection / 4;

    private void NoteBlocked(ClientConnection connection, long unsent)
    {
        if (unsent == 0 || !connection.Channel.IsBlocked)
        {
            if (connection.BlockedSince != 0)
            {
                connection.NoteUnblocked(Now);
            }
        }
        else if (connection.NoteBlocked(Now))
        {
            ScheduleDeadline(connection);
        }
    }

    private void OnSessionFailed(ClientConnection connection, Exception e)
    {
        Log.Write(ServerLogLevel.Error, $"The session of {connection.RemoteText} on '{connection.ListenerName}' failed and is closed: {e}");
        Close(connection, CloseReason.SessionFailed);
    }
}
