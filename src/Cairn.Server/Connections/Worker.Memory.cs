namespace Cairn.Server.Connections;

// Memory: connections whose reply waits for some, and the return of what a burst has left.
//
//   I1  A connection is in the list of the waiting at most once, and is not executed while it is there.
//   I2  The first in the list is the first to go on, so a long reply is not overtaken for ever by shorter ones.
//   I3  Clients that read what they are sent have a list of their own, and go first. While one of them waits, the clients that have
//       read nothing for longest are disconnected. So clients that do not read hold up no client that reads for more than a few seconds.
internal sealed partial class Worker
{
    // How often to look for memory that another worker has returned. What this one returns is seen in the same turn.
    private const int MemoryStepMs = 10;

    // A block that no request needed for this long is returned.
    private const int TrimStepMs = 2000;

    // How often to look for clients that do not read while one that reads waits.
    private const int ReclaimStepMs = 100;

    private readonly Queue<ClientConnection> _awaitingMemory = new();
    private readonly Queue<ClientConnection> _awaitingWithCredit = new();
    private int _waitingWithCredit; // Of those that wait for memory or a cell.
    private long _reclaimAt;
    private long _trimAt;
    private long _trimmedActivity;
    private long _closedCount;
    private volatile bool _isQuiet = true;

    /// <summary>Whether nothing has come or gone for a while. Any thread.</summary>
    public bool IsQuiet => _isQuiet;

    private void AwaitMemory(ClientConnection connection)
    {
        if (!connection.IsAwaitingMemory)
        {
            connection.IsAwaitingMemory = true;
            BeginWaitWithCredit(connection, connection.Held.Credit >= connection.Session.AwaitedBytes);
            (connection.WaitsWithCredit ? _awaitingWithCredit : _awaitingMemory).Enqueue(connection);
        }
    }

    // As many as memory allows; what they take is not counted before they are executed.
    private void ReadyThoseWithMemory()
    {
        long expected = 0;
        if (ReadyThoseWithMemory(_awaitingWithCredit, ref expected))
        {
            ReadyThoseWithMemory(_awaitingMemory, ref expected);
        }

        if (_waitingWithCredit == 0)
        {
            _reclaimAt = 0;
        }
        else if (Now >= _reclaimAt)
        {
            _reclaimAt = Now + ReclaimStepMs;
            _engine.CloseStalled(Now);
        }
    }

    private bool ReadyThoseWithMemory(Queue<ClientConnection> waiting, ref long expected)
    {
        while (waiting.TryPeek(out ClientConnection? first))
        {
            if (first.State == ConnectionState.Open)
            {
                long bytes = first.Session.AwaitedBytes;
                if (!first.Held.MayReply(bytes, expected))
                {
                    return false;
                }

                expected += bytes;
                MakeReady(first);
            }

            first.IsAwaitingMemory = false;
            EndWaitWithCredit(first);
            waiting.Dequeue();
        }

        return true;
    }

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

    private int MillisecondsToMemory() => _awaitingMemory.Count + _awaitingWithCredit.Count > 0 ? MemoryStepMs : -1;

    // Only a worker that has something to return wakes up for it.
    private int MillisecondsToTrim() => _trimAt == 0 ? -1 : (int)Math.Clamp(_trimAt - Now, 0, TrimStepMs);

    // Bytes that come and go, and connections that end, are what blocks are taken and returned for.
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
