using Cairn.Server.Buffers;
using Cairn.Server.Logging;
using Cairn.Server.Metrics;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Connections;

// Serving: from input to replies.
internal sealed unsafe partial class Worker
{
    // The number of connections, and of their bytes, that are looked ahead over together. It is large enough to overlap the memory
    // fetches, and small enough that the first data fetched is still in the CPU's cache when it is used.
    private const int GroupConnections = 32;
    private const int GroupBytes = 8 << 10;

    // Below this size a look-ahead is not worthwhile: executing a single request takes no longer.
    private const int PrefetchBytes = 64;

    // With this many bytes of waiting input, the server stops receiving.
    private const int WaitingInputBytes = 64 << 10;

    // The cost, in bytes, of examining a connection that turns out to have nothing to do.
    private const int LeastWork = 256;

    // After this many turns, later connections are served although new input keeps arriving.
    private const int LongestWaitTurns = 8;

    private ClientConnection[] _ready = new ClientConnection[16];
    private ClientConnection[] _serving = new ClientConnection[16];
    private readonly Queue<ClientConnection> _later = new();
    private int _readyCount;
    private int _laterTurns;
    private bool _hasReplies; // To the ready connections of this turn.

    /// <summary>Handles bytes that arrived. They are valid until the turn ends.</summary>
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
            return; // Lingering: the client still sends, but the input is discarded.
        }

        if (connection.Tls is { } tls)
        {
            tls.Receive(bytes, count);
            return;
        }

        connection.TakeChunk(bytes, count);
        MakeReady(connection);
    }

    /// <summary>Ends the input, because the client has ended its side of the connection.</summary>
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
            MakeReady(connection); // Input that came before is executed and answered first.
        }
    }

    /// <summary>Handles a broken connection.</summary>
    public void OnReset(ClientConnection connection)
    {
        if (connection.CloseReason == CloseReason.None)
        {
            connection.CloseReason = CloseReason.Reset;
        }

        CloseChannel(connection, isHard: true);
    }

    /// <summary>Continues after waiting output was sent, partly or completely.</summary>
    public void OnSent(ClientConnection connection)
    {
        if (connection is { State: ConnectionState.Open, Session.OnlyReceives: true, Output.UnsentBytes: 0 })
        {
            connection.Session.OnDrained();
            SendAndSettle(connection);
        }
        else if (connection.State != ConnectionState.Closed)
        {
            Settle(connection);
        }
    }

    /// <summary>Makes the connection ready to be served in this turn or the next, or later if its last work was long.</summary>
    public void MakeReady(ClientConnection connection)
    {
        if (!connection.IsReady && TurnShare.IsMuch(connection.Work))
        {
            MakeReadyLater(connection);
        }

        if (connection.IsLater)
        {
            connection.KeepChunk(); // It may be served after this turn.
        }

        if (connection.IsReady || connection.State == ConnectionState.Closed)
        {
            return;
        }

        connection.IsReady = true;
        if (_readyCount == _ready.Length)
        {
            Array.Resize(ref _ready, 2 * _readyCount);
        }

        _ready[_readyCount++] = connection;
    }

    /// <summary>Handles a failed handshake, or input that cannot be decrypted. The alert of TLS is sent first.</summary>
    public void OnTlsFailed(ClientConnection connection, Exception e)
    {
        _engine.OnTlsFailed(connection, e);
        BeginClose(connection, CloseReason.TlsFailed);
    }

    /// <summary>Makes the connection wait because its session leaves its request until a cell or memory may be free.</summary>
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

    /// <summary>Ends the wait of a connection for a cell or for another thread, so that it is served again.</summary>
    public void EndWait(ClientConnection connection)
    {
        if (connection.IsWaiting)
        {
            connection.IsWaiting = false;
            NoteWaited(connection);
            _waitingForCell -= connection.CellQueueNode is null ? 0 : 1;
            EndWaitWithCredit(connection);
        }
    }

    // Returns whether its request waits for another thread, and not for a cell.
    private static bool IsAwaitingThread(ClientConnection connection) => connection is { IsWaiting: true, CellQueueNode: null };

    private void MakeReadyLater(ClientConnection connection)
    {
        if (!connection.IsReady && connection.State != ConnectionState.Closed)
        {
            connection.IsReady = true;
            connection.IsLater = true;
            _later.Enqueue(connection);
        }
    }

    private void ServeReady()
    {
        int count = _readyCount;
        if (count == 0)
        {
            return;
        }

        (_ready, _serving) = (_serving, _ready);
        _readyCount = 0;
        _hasReplies = true;
        LongReplies.IsTurnOfMany = count > 1;
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

        LongReplies.IsTurnOfMany = false;
        Array.Clear(_serving, 0, count);
    }

    // I5. A loop may keep replies until the end of the turn. They leave before work that may take long.
    private void SendFirst()
    {
        if (_hasReplies)
        {
            _hasReplies = false;
            _loop.Flush();
        }
    }

    // I5, I6. Input that was not collected yet comes first, but only for a few turns.
    private void ServeLater()
    {
        if (_later.Count == 0 || (!_isAllCollected && ++_laterTurns < LongestWaitTurns))
        {
            return;
        }

        _laterTurns = 0;
        SendFirst();
        var share = new TurnShare();
        for (int count = _later.Count; count > 0 && share.HasRoom; count--)
        {
            ClientConnection connection = _later.Dequeue();
            connection.IsReady = false;
            connection.IsLater = false;
            share.Count(LeastWork + ServeAlone(connection));
        }
    }

    private long ServeAlone(ClientConnection connection)
    {
        long began = Clock.GetTimestamp();
        long arrived = ArrivalOf(connection);
        long work = Serve([connection], connection.InputBytes);
        Record([connection], arrived, began);
        return work;
    }

    // A request that was not executed in an earlier turn has waited since it arrived, unless it waited for the client to read. An
    // incomplete request arrives with its last bytes.
    private long ArrivalOf(ClientConnection connection) =>
        connection.HasMoreInput && connection.ArrivedTicks != 0 ? connection.ArrivedTicks : _awakeTicks;

    // Reads the clock once for all work that was done together. Returns the time at which the next group begins.
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

    // Something in the batch took long. Which request it was is unknown. If the next batches are slow too, their requests are timed one
    // by one.
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

    // Returns the work of all connections of the group.
    private long Serve(ReadOnlySpan<ClientConnection> group, int bytes)
    {
        if (bytes >= PrefetchBytes || Recorder.Keys.IsWatched)
        {
            LookAhead(group);
        }

        long work = 0;
        foreach (ClientConnection connection in group)
        {
            work += Execute(connection);
        }

        foreach (ClientConnection connection in group)
        {
            SendAndSettle(connection);
        }

        return work;
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
#pragma warning disable CA1031 // An exception in the code of one connection ends that connection, never the server.
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

    // Returns the amount of work (TurnShare).
    private long Execute(ClientConnection connection)
    {
        if (connection.State != ConnectionState.Open)
        {
            connection.DropInput();
            return 0;
        }

        if (!CanExecute(connection))
        {
            connection.KeepChunk();
            connection.HasMoreInput = connection.InputBytes > 0 &&
                (connection.Output.IsFull || connection.IsWaiting || connection.Session.HasUnfinishedRequest);
            connection.ArrivedTicks = 0;
            NoteRequest(connection, hasConsumed: false);
            return 0;
        }

        int consumed = 0;
        long unsent = connection.Output.UnsentBytes;
        _current = connection;
        connection.Held.Credit = connection.CreditAt(Now);
        try
        {
            consumed = ExecuteInput(connection);
        }
#pragma warning disable CA1031 // An exception in the code of one connection ends that connection, never the server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            OnSessionFailed(connection, e);
        }

        connection.Output.CloseSegment();
        long work = consumed + connection.Output.UnsentBytes - unsent;
        LeaveCurrent();
        if (connection.State != ConnectionState.Open)
        {
            connection.DropInput();
            return work;
        }

        int left = connection.InputBytes;
        long arrived = ArrivalOf(connection);
        bool mustWait = connection.Output.IsFull || connection.IsWaiting || connection.Session.HasUnfinishedRequest;
        connection.HasMoreInput = left > 0 && (mustWait || (consumed > 0 && left >= connection.Session.NeededBytes));
        if (connection.HasMoreInput)
        {
            connection.ArrivedTicks = mustWait ? 0 : arrived;
            work = Math.Max(work, TurnShare.Bytes); // It stopped because its share was used up.
        }

        connection.CountWork(work);

        if (connection.CellQueueNode is not null && !connection.IsWaiting)
        {
            CellQueue.Leave(connection);
        }

        NoteRequest(connection, consumed > 0);
        return work;
    }

    private int ExecuteInput(ClientConnection connection)
    {
        while (true)
        {
            Session session = connection.Session;
            int there = connection.InputBytes;
            int consumed = session.Execute(connection.Input, connection.Output, Limits.MaxRequestsPerTurn);
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

    // An incomplete request has a time limit and a size limit.
    private void NoteRequest(ClientConnection connection, bool hasConsumed)
    {
        int left = connection.InputBytes;
        if ((left == 0 && connection.Tls is not { IsWithinRecord: true }) || connection.HasMoreInput)
        {
            connection.RequestSince = 0;
            return;
        }

        int limit = Limits.MaxInputBytesPerConnection;
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

    /// <summary>Sends the connection's output, then does what the connection's state requires.</summary>
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

    // Does what the connection's state requires: serves it again, pauses or resumes receiving, or closes it. Has no effect if nothing has
    // changed.
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

        // A full output stops replies, but not messages.
        connection.PostedBytes = Math.Min(connection.PostedBytes, unsent);
        if (connection.PostedBytes > Limits.MaxOutputBytesPerConnection)
        {
            Fail(connection, CloseReason.TooMuchOutput);
            return;
        }

        if (_engine.Memory.IsHeldExceeded && HoldsMuch(connection))
        {
            ClientConnection greediest = _engine.FindLargestHolder() ?? connection;
            if (greediest == connection)
            {
                Fail(connection, CloseReason.OutOfMemory);
                return;
            }

            greediest.Close(CloseReason.OutOfMemory);
        }

        if (connection.IsInputEnded && IsAwaitingThread(connection))
        {
            BeginClose(connection, CloseReason.ClosedByClient); // The client has most likely gone, and others wait for the same thing.
            return;
        }

        if (connection.HasMoreInput)
        {
            if (connection.Output.IsFull || connection.IsWaiting)
            {
                // It continues when its client has read, or when its wait ends.
            }
            else if (connection.Session.AwaitedBytes > 0)
            {
                AwaitMemory(connection);
            }
            else
            {
                MakeReadyLater(connection);
            }
        }
        else if (connection.IsInputEnded && unsent == 0 && !connection.IsReady)
        {
            BeginClose(connection, CloseReason.ClosedByClient);
            return;
        }

        // The condition is "blocked", not only "full": a client that keeps reading takes a full output at once, and receiving continues.
        // A paused connection stays paused until most of the output is gone, because pausing has a cost.
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

    // Returns whether it holds more memory that cannot wait than a request usually needs.
    private static bool HoldsMuch(ClientConnection connection) =>
        connection.HeldBytes >= ConnectionLimits.MinBytesPerConnection / 4;

    private void NoteBlocked(ClientConnection connection, long unsent)
    {
        if (unsent == 0 || !connection.Channel.IsBlocked)
        {
            if (connection.BlockedSince != 0)
            {
                connection.NoteUnblocked(Now);
                NoteWaited(connection);
            }
        }
        else if (connection.NoteBlocked(Now))
        {
            ScheduleDeadline(connection);
        }
    }

    private void OnSessionFailed(ClientConnection connection, Exception e)
    {
        Log.Write(LogLevel.Error, $"The session of {connection.RemoteText} on '{connection.ListenerName}' failed and is closed: {e}");
        Close(connection, CloseReason.SessionFailed);
    }
}
