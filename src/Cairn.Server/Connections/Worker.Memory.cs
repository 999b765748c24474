namespace Cairn.Server.Connections;

// Connections whose long reply waits for memory or for its share of a turn (LongReplies), and the return of unused memory after a burst.
//
//   I1  A connection is in a waiting list at most once, and is not executed while it is there.
//   I2  The first in the list continues first, so shorter replies cannot overtake a long reply without end.
//   I3  Clients that read what they are sent have a list of their own. They take memory first. While one of them waits, the server
//       closes the clients that have read nothing for longest. So clients that do not read delay clients that read by at most a few
//       seconds. With memory for both, each list has the share of every other turn first.
internal sealed partial class Worker
{
    // The interval at which to check for memory that another worker has returned. Memory that this worker returns is seen in the same
    // turn.
    private const int MemoryStepMs = 10;

    // A block that was not needed for this time is returned.
    private const int TrimStepMs = 2000;

    // The interval at which to check for clients that do not read while a client that reads waits.
    private const int ReclaimStepMs = 100;

    private readonly Queue<ClientConnection> _awaitingMemory = new();
    private readonly Queue<ClientConnection> _awaitingWithCredit = new();
    private int _waitingWithCredit; // Connections with credit that wait for memory or a cell.
    private bool _hasMemoryForNext; // One waits only for its share of a turn.
    private long _reclaimAt;
    private long _trimAt;
    private long _trimmedActivity;
    private long _closedCount;
    private volatile bool _isQuiet = true;

    /// <summary>Gets whether the worker has been idle for a while. Thread-safe.</summary>
    public bool IsQuiet => _isQuiet;

    private void AwaitMemory(ClientConnection connection)
    {
        if (!connection.IsAwaitingMemory)
        {
            connection.IsAwaitingMemory = true;
            BeginWaitWithCredit(connection, connection.Held.Credit >= connection.Session.AwaitedBytes);
            (connection.WaitsWithCredit ? _awaitingWithCredit : _awaitingMemory).Enqueue(connection);
            LongReplies.Waiting++;
            _hasMemoryForNext |= connection.Held.HasMemoryFor(connection.Session.AwaitedBytes);
        }
    }

    private void ServeThoseWithMemory()
    {
        _hasMemoryForNext = false;
        LongReplies.IsTurnOfWaiting = true;
        bool areOthersFirst = (_turn & 1) != 0 && HasMemoryForFirst(_awaitingWithCredit);
        if (areOthersFirst)
        {
            ServeThoseWithMemory(_awaitingMemory);
        }

        bool isShort = !ServeThoseWithMemory(_awaitingWithCredit);
        if (!isShort && !areOthersFirst)
        {
            ServeThoseWithMemory(_awaitingMemory);
        }

        LongReplies.IsTurnOfWaiting = false;
        if (!isShort && _waitingWithCredit == _awaitingWithCredit.Count)
        {
            _reclaimAt = 0;
        }
        else if (Now >= _reclaimAt)
        {
            _reclaimAt = Now + ReclaimStepMs;
            _engine.CloseStalled(Now);
        }
    }

    // Serves as many as memory and the share of the turn allow. Returns false if memory is what is missing.
    private bool ServeThoseWithMemory(Queue<ClientConnection> waiting)
    {
        for (int count = waiting.Count; count > 0; count--)
        {
            if (!HasMemoryForFirst(waiting))
            {
                return false;
            }

            if (!LongReplies.HasRoom)
            {
                _hasMemoryForNext = true;
                break;
            }

            ClientConnection first = waiting.Dequeue();
            LongReplies.Waiting--;
            first.IsAwaitingMemory = false;
            EndWaitWithCredit(first);
            NoteWaited(first);
            if (first.State == ConnectionState.Open)
            {
                SendFirst();
                ServeAlone(first);
            }
        }

        return true;
    }

    // True if none waits.
    private static bool HasMemoryForFirst(Queue<ClientConnection> waiting) =>
        !waiting.TryPeek(out ClientConnection? first) || first.State != ConnectionState.Open || first.Held.HasMemoryFor(first.Session.AwaitedBytes);

    private void BeginWaitWithCredit(ClientConnection connection, bool hasCredit)
    {
        connection.WaitsWithCredit = hasCredit;
        _waitingWithCredit += hasCredit ? 1 : 0;
    }

    private void EndWaitWithCredit(ClientConnection connection)
    {
        _waitingWithCredit -= connection.WaitsWithCredit ? 1 : 0;
        connection.WaitsWithCredit = false;
    }

    private int MillisecondsToMemory() => LongReplies.Waiting > 0 ? MemoryStepMs : -1;

    // Only a worker that has memory to return wakes up for it.
    private int MillisecondsToTrim() => _trimAt == 0 ? -1 : (int)Math.Clamp(_trimAt - Now, 0, TrimStepMs);

    // Blocks are taken and returned only when bytes are transferred or connections end, so these counts measure the activity.
    private void TrimIfDue()
    {
        long activity = Recorder.BytesReceived + Recorder.BytesSent + _closedCount;
        if (_trimAt == 0)
        {
            if (activity != _trimmedActivity)
            {
                _isQuiet = false;
                _trimAt = Now + TrimStepMs;
            }
        }
        else if (Now >= _trimAt)
        {
            bool isQuiet = activity == _trimmedActivity;
            _trimmedActivity = activity;
            _trimAt = isQuiet ? 0 : Now + TrimStepMs;
            if (isQuiet)
            {
                Arena.Trim();
                Pool.Clear();
                _loop.Trim();
                _isQuiet = true;
                _engine.OnQuiet();
            }
            else
            {
                Pool.Trim();
            }
        }
    }
}
