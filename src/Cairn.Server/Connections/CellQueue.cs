// Connections whose request waits for a hazard cell of the store, or for memory to copy a value, in the order in which they began to wait.
// Clients that were not slow to read come before the others: they may take memory that the others may not.
//
//   served --no cell, and no room for a copy--> waiting --first, and a cell came free or some time has passed--> served again
//
//   Q1  While connections wait, only the first of them takes a cell. Another connection shares a cell, copies, or waits behind.
//   Q2  A connection keeps its place until the request that waits is done, or the connection ends.
//   Q3  A thread that releases a cell looks here afterwards. A cell that is released before a connection has joined, or by code that
//       knows nothing of connections, is found by the periodic look of the connection's worker.
//
// So a connection waits, and never its worker. The lock is held for a few instructions in which nothing is waited for.
namespace Cairn.Server.Connections;

internal sealed class CellQueue
{
    private readonly Lock _lock = new();
    private readonly LinkedList<ClientConnection> _withCredit = [];
    private readonly LinkedList<ClientConnection> _waiting = [];
    private int _count; // Of those waiting, to be read without the lock.

    // Under the lock.
    private ClientConnection? First => (_withCredit.First ?? _waiting.First)?.Value;

    // Release and acquire are enough: a stale value costs a periodic look (Q3).
    private bool IsEmpty => Volatile.Read(ref _count) == 0;

    /// <summary>Connections that wait. Any thread.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Whether a connection may take a cell now (Q1). Any thread.</summary>
    public bool MayTake(ClientConnection connection)
    {
        if (IsEmpty)
        {
            return true;
        }

        lock (_lock)
        {
            return First is not { } first || ReferenceEquals(first, connection);
        }
    }

    /// <summary>The connection waits, behind those that do, or at the place that it has.</summary>
    public void Join(ClientConnection connection)
    {
        lock (_lock)
        {
            if (connection.CellQueueNode is null)
            {
                connection.CellQueueNode = (connection.WaitsWithCredit ? _withCredit : _waiting).AddLast(connection);
                Volatile.Write(ref _count, _count + 1);
            }
        }
    }

    /// <summary>The connection does not wait any more, if it did. The next one is served: more than one cell may be free.</summary>
    public void Leave(ClientConnection connection)
    {
        if (connection.CellQueueNode is null)
        {
            return;
        }

        lock (_lock)
        {
            connection.CellQueueNode.List!.Remove(connection.CellQueueNode);
            connection.CellQueueNode = null;
            Volatile.Write(ref _count, _count - 1);
        }

        ServeFirst();
    }

    /// <summary>A cell or memory may have come free: the first connection is served again. Any thread.</summary>
    public void ServeFirst()
    {
        if (IsEmpty)
        {
            return;
        }

        ClientConnection? first;
        lock (_lock)
        {
            first = First;
        }

        first?.Post(static connection => connection.Worker.EndWait(connection));
    }
}
