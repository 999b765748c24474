using System.Collections.Concurrent;
using System.Text;
using Cairn.Server.Connections;

namespace Cairn.Server.Tests.Testing;

internal sealed class TestSessions : SessionFactory
{
    private long _prefetches;
    private long _executions;

    public BlockingCollection<ClientConnection> Connected { get; } = [];

    public BlockingCollection<CloseReason> Closed { get; } = [];

    public long Prefetches => Interlocked.Read(ref _prefetches);

    public long Executions => Interlocked.Read(ref _executions);

    public string Greeting { get; set; } = "";

    public override ReadOnlyMemory<byte> TooManyConnections => "error too many\n"u8.ToArray();

    public override Session Create(ClientConnection connection)
    {
        connection.Output.Write(Encoding.ASCII.GetBytes(Greeting));
        Connected.Add(connection);
        return new TestSession(connection, this);
    }

    public void CountPrefetch() => Interlocked.Increment(ref _prefetches);

    public void CountExecution() => Interlocked.Increment(ref _executions);
}
