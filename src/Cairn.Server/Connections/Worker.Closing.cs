using Cairn.Server.Io;
using Cairn.Server.Logging;
using Microsoft.Extensions.Logging;

namespace Cairn.Server.Connections;

// Closing one connection, and all connections.
internal sealed unsafe partial class Worker
{
    // LingerMs: the time for a client to close after the server has ended its side. StoppingLingerMs: the same while the server stops,
    // because a client that may not even read must not delay the stop.
    private const int LingerMs = 2000;
    private const int StoppingLingerMs = 100;

    // The interval at which a draining worker checks whether connections have become silent.
    private const int DrainStepMs = 10;

    private long _drainUntil;
    private long _drainTurn;

    /// <summary>Finishes the requests that have arrived, sends the replies, and closes all connections. After the time has passed, closes
    /// them at once.</summary>
    public void BeginDrain(TimeSpan time)
    {
        _drainUntil = Math.Max(1, Now + (long)time.TotalMilliseconds);
        _drainTurn = _turn;
    }

    // Closes for a reason of the engine, after the protocol has written its error, if it has one.
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
#pragma warning disable CA1031 // An exception in the code of one connection ends that connection, never the server.
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
            // Settle continues when the output is empty.
            connection.State = ConnectionState.Closing;
            connection.DropInput();
            LeaveCellQueue(connection);
            SendAndSettle(connection);
        }
    }

    // The kernel has all output, but may not have delivered it. If the kernel closed a socket with unread or arriving input, it would
    // reset the connection, and the client could lose output that it has not read. So the server ends only its sending side, and the
    // client closes first. Input that arrives until then is discarded.
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
#pragma warning disable CA1031 // An exception in the code of one connection ends that connection, never the server.
        catch (Exception e)
#pragma warning restore CA1031
        {
            Log.Write(LogLevel.Error, $"The session of {connection.RemoteText} on '{connection.ListenerName}' failed when it was closed: {e}");
        }

        connection.Held.Release();
    }

    private void LeaveCellQueue(ClientConnection connection)
    {
        EndWait(connection);
        CellQueue.Leave(connection);
    }

    /// <summary>Frees the output after the kernel has released the connection's memory.</summary>
    public void OnChannelClosed(ClientConnection connection)
    {
        _closingChannels--;
        if (connection.Tls is not { IsWriting: true })
        {
            connection.Output.Clear(); // Otherwise freed when TLS releases it.
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

    // Returns whether all input that had arrived when the stop began has been collected, executed and answered. Requests that wait for
    // another thread are not waited for.
    private bool IsSilent(ClientConnection connection) =>
        connection.State == ConnectionState.Open && _isAllCollected && connection.LastInputTurn < _turn - 1 &&
        !connection.IsReady && connection.Output.UnsentBytes == 0 &&
        ((!connection.HasMoreInput && !connection.IsReceivePaused) || IsAwaitingThread(connection));
}
