using System.Collections.Concurrent;
using System.Text;
using Cairn.Server.Connections;

namespace Cairn.Server.Tests.Testing;

/// <summary>Creates <see cref="TestSession"/>s, and lets a test wait for their events.</summary>
internal sealed class TestSessions : SessionFactory
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly object _gate = new();
    private readonly BlockingCollection<CloseReason> _closed = [];
    private long _prefetches;
    private long _executions;

    public BlockingCollection<ClientConnection> Connected { get; } = [];

    public long Prefetches => Interlocked.Read(ref _prefetches);

    public long Executions => Interlocked.Read(ref _executions);

    public string Greeting { get; set; } = "";

    public override ReadOnlyMemory<byte> TooManyConnections => "error too many\n"u8.ToArray();

    public override Session Create(ClientConnection connection)
    {
        if (Greeting.Length > 0)
        {
            connection.Output.Write(Encoding.ASCII.GetBytes(Greeting));
        }

        Connected.Add(connection);
        return new TestSession(connection, this);
    }

    /// <summary>Waits for the next connection to end and returns the reason.</summary>
    public CloseReason TakeClosed() =>
        _closed.TryTake(out CloseReason reason, Patience) ? reason : throw new TimeoutException("No connection ended.");

    /// <summary>Waits until sessions were asked to execute this many times since the start.</summary>
    public void WaitForExecutions(long count)
    {
        lock (_gate)
        {
            while (_executions < count)
            {
                if (!Monitor.Wait(_gate, Patience))
                {
                    throw new TimeoutException("Nothing was executed.");
                }
            }
        }
    }

    public void CountPrefetch() => Interlocked.Increment(ref _prefetches);

    /// <returns>The number of this execution.</returns>
    public long CountExecution()
    {
        lock (_gate)
        {
            Monitor.PulseAll(_gate);
            return ++_executions;
        }
    }

    public void NoteClosed(CloseReason reason) => _closed.Add(reason);
}
