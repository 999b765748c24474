// A queue of the connections whose request waits for a hazard cell of the store, or for memory to copy a value. It is first in, first
// out. Clients that read without delay come before the others, because they may take memory that the others may not.
//
//   served --no cell, and no memory for a copy--> waiting --first, and a cell was released or some time has passed--> served again
//
//   Q1  While connections wait, only the first of them takes a cell. Another connection shares a cell, copies, or waits behind it.
//   Q2  A connection keeps its place until the waiting request is done, or the connection ends.
//   Q3  A thread that releases a cell checks this queue afterwards. The periodic check of the connection's worker finds a cell that
//       was released before the connection joined, or by code that does not know about connections.
//
// Thus a connection waits, never its worker. The lock is held only for a few instructions, none of which waits.
namespace Cairn.Server.Connections;

internal sealed class CellQueue
{
    private readonly Lock _lock = new();
    private readonly LinkedList<ClientConnection> _withCredit = [];
    private readonly LinkedList<ClientConnection> _waiting = [];
    private int _count; // The number of waiting connections; read without the lock.

    // Requires the lock.
    private ClientConnection? First => (_withCredit.First ?? _waiting.First)?.Value;

    // Acquire; pairs with the release writes of _count. A stale value only delays the connection until the next periodic check (Q3).
    private bool IsEmpty => Volatile.Read(ref _count) == 0;

    /// <summary>Gets the number of waiting connections. Thread-safe.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Returns whether a connection may take a cell now (Q1). Thread-safe.</summary>
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

    /// <summary>Adds the connection at the end. A connection that waits already keeps its place.</summary>
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

    /// <summary>Removes the connection if it waits, and serves the next one, because more than one cell may be free.</summary>
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

    /// <summary>Serves the first connection again, because a cell or memory may have been released. Thread-safe.</summary>
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
