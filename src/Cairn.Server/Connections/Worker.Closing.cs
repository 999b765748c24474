using Cairn.Server.Io;

namespace Cairn.Server.Connections;

// Closing: a connection's end, and that of all of them.
internal sealed unsafe partial class Worker
{
    // How long a client that was told the end may take to hang up, and how long one that may not even be listening keeps the
    // server from stopping.
    private const int LingerMs = 2000;
    private const int StoppingLingerMs = 100;

    // While draining: how often to look whether a connection has fallen silent.
    private const int DrainStepMs = 10;

    private long _drainUntil;
    private long _drainTurn;

    /// <summary>Finishes what was received, sends the replies, and closes all; hard, when this much time has passed.</summary>
    public void BeginDrain(TimeSpan time)
    {
        _drainUntil = Math.Max(1, Now + (long)time.TotalMilliseconds);
        _drainTurn = _turn;
    }

    // The engine has a reason: the protocol may have an error for it.
    private void Fail(ClientConnection connection, CloseReason reason)
    {
        if (connection.State != ConnectionState.Open)
        {
            return;
        }

        if (reason.SendsRest())
        {
            try
            {
                connection.Session.OnClosing(reason, connection.Output);
            }
#pragma warning disable CA1031 // Whatever goes wrong in one connection's business ends that connection, never the server.
            catch (Exception e)
#pragma warning restore CA1031
            {
                OnSessionFailed(connection, e);
            }
        }

        BeginClose(connection, reason);
    }

    private void BeginClose(ClientConnection connection, CloseReason reason)
    {
        if (connection.State is ConnectionState.Closed or ConnectionState.Lingering)
        {
            return;
        }

        if (connection.CloseReason == CloseReason.None)
        {
            connection.CloseReason = reason;
        }

        if (!reason.SendsRest())
        {
            CloseChannel(connection, isHard: true);
            return;
        }

        if (connection.State == ConnectionState.Open)
        {
            // The rest follows when the output is empty: Settle.
            connection.State = ConnectionState.Closing;
            connection.DropInput();
            LeaveCellQueue(connection);
            SendAndSettle(connection);
        }
    }

    // All was given to the kernel, which need not have delivered it. If it had to close while input is unread or still comes, it
    // would reset the connection, and what the client has not read yet could be lost. So the client is told the end, and
    // hangs up first; what it sends until then is read and dropped.
    private void FinishClosing(ClientConnection connection)
    {
        if (connection.IsInputEnded)
        {
            CloseChannel(connection, isHard: false);
            return;
        }

        connection.State = ConnectionState.Lingering;
        connection.LingerUntil = Now + (connection.CloseReason == CloseReason.ServerStopping ? StoppingLingerMs : LingerMs);
        connection.Channel.ShutdownSend();
        if (connection.IsReceivePaused)
        {
            connection.IsReceivePaused = false;
            connection.Channel.ResumeReceive();
        }

        ScheduleDeadline(connection);
    }

    private void CloseChannel(ClientConnection connection, bool isHard)
    {
        if (connection.State == ConnectionState.Closed)
        {
            return;
        }

        connection.State = ConnectionState.Closed;
        _closedCount++;
        connection.DropInput();
        LeaveCellQueue(connection);
        _deadlines.Remove(connection.DeadlineEntry);
        Remove(connection);
        _closingChannels++;
        if (connection.Channel.Close(isHard))
        {
            OnChannelClosed(connection);
        }

        connection.Tls?.Dispose();
        Interlocked.Decrement(ref _connectionCount);
        _engine.OnDisconnected(connection);
        try
        {
            connection.Session.OnClosed(connection.CloseReason);
        }
#pragma warning disable CA1031 // Whatever goes wrong in one connection's business ends that connection, never the server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            Log.Write(ServerLogLevel.Error, $"The session of {connection.RemoteText} on '{connection.ListenerName}' failed when it was closed: {e}");
        }

        connection.Held.Release();
    }

    private void LeaveCellQueue(ClientConnection connection)
    {
        EndWait(connection);
        CellQueue.Leave(connection);
    }

    /// <summary>The kernel has let go of the connection's memory.</summary>
    public void OnChannelClosed(ClientConnection connection)
    {
        _closingChannels--;
        if (connection.Tls is not { IsWriting: true })
        {
            connection.Output.Clear(); // Else when TLS lets go of it.
        }

        connection.WireOutput.Clear();
    }

    private int MillisecondsToDrain() =>
        _turn < _drainTurn + 2 ? 0 : (int)Math.Clamp(_drainUntil - Now, 1, DrainStepMs);

    private void Drain()
    {
        bool isOver = Now >= _drainUntil;
        for (int i = _listed - 1; i >= 0; i--)
        {
            ClientConnection connection = _connections[i];
            if (isOver)
            {
                connection.CloseReason = CloseReason.ServerStopped;
                CloseChannel(connection, isHard: true);
            }
            else if (_turn >= _drainTurn + 2 && IsSilent(connection) && !connection.Channel.CollectUnread())
            {
                Fail(connection, CloseReason.ServerStopping);
            }
        }

        if (_listed == 0 && _closingChannels == 0 && _posts.IsEmpty)
        {
            _isRunning = false;
        }
    }

    // All that had arrived when the stop began was collected since, executed and answered. What waits for another thread is not waited for.
    private bool IsSilent(ClientConnection connection) =>
        connection.State == ConnectionState.Open && _isAllCollected && connection.LastInputTurn < _turn - 1 &&
        !connection.IsReady && connection.Output.UnsentBytes == 0 &&
        ((!connection.HasMoreInput && !connection.IsReceivePaused) || IsAwaitingThread(connection));
}
