namespace Cairn.Server.Connections;

// Memory: connections whose reply waits for some, and the return of what a burst has left.
//
//   I1  A connection is in the list of the waiting at most once, and is not executed while it is there.
//   I2  The first in the list is the first to go on, so a long reply is not overtaken for ever by shorter ones.
internal sealed partial class Worker
{
    // How often to look for memory that another worker has returned. What this one returns is seen in the same turn.
    private const int MemoryStepMs = 10;

    // A block that no request needed for this long is returned.
    private const int TrimStepMs = 2000;

    private readonly Queue<ClientConnection> _awaitingMemory = new();
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
            _awaitingMemory.Enqueue(connection);
        }
    }

    // As many as memory allows; what they take is not counted before they are executed.
    private void ReadyThoseWithMemory()
    {
        long expected = 0;
        while (_awaitingMemory.TryPeek(out ClientConnection? first))
        {
            if (first.State == ConnectionState.Open)
            {
                long bytes = first.Session.AwaitedBytes;
                if (!_engine.Memory.MayReply(bytes, expected))
                {
                    return;
                }

                expected += bytes;
                MakeReady(first);
            }

            first.IsAwaitingMemory = false;
            _awaitingMemory.Dequeue();
        }
    }

    private int MillisecondsToMemory() => _awaitingMemory.Count > 0 ? MemoryStepMs : -1;

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
