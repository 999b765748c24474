using Cairn.Soak.Measuring;

namespace Cairn.Soak.Load;

/// <summary>The clients of one server. Each has a thread of its own.</summary>
internal sealed class LoadCrew : IDisposable
{
    private const int SteadyClients = 4;
    private const double PassingPerSecond = 10;
    private const double FillsPerSecond = 200;

    private readonly CancellationTokenSource _stop = new();
    private readonly List<Thread> _threads = [];

    /// <param name="name">The prefix of the clients' keys. Other crews of the same store must have another prefix.</param>
    /// <param name="ports">The ports of the server.</param>
    /// <param name="requestsPerSecond">The total rate of all steady clients.</param>
    /// <param name="seed">The seed of all requests.</param>
    /// <param name="tally">The counts of the piece.</param>
    public LoadCrew(string name, ServerPorts ports, int requestsPerSecond, int seed, LoadTally tally)
    {
        for (int i = 0; i < SteadyClients; i++)
        {
            var client = new SteadyClient(
                $"{name}:{LineConnection.Text(i)}", ports, i % 2 == 1, requestsPerSecond / (double)SteadyClients, seed + i, Latencies, tally);
            Start(client.Run, tally);
        }

        Start(new PassingClients(ports, PassingPerSecond, seed + SteadyClients, tally).Run, tally);
        Start(new GreedyClients(ports, FillsPerSecond, seed + SteadyClients + 1, tally).Run, tally);
    }

    public LatencyWindow Latencies { get; } = new();

    public void Dispose()
    {
        _stop.Cancel();
        foreach (Thread thread in _threads)
        {
            thread.Join();
        }

        _stop.Dispose();
    }

    private void Start(Action<CancellationToken> run, LoadTally tally)
    {
        var thread = new Thread(() =>
        {
            try
            {
                run(_stop.Token);
            }
#pragma warning disable CA1031 // A client that fails is a fault of the piece. The run continues.
            catch (Exception e)
#pragma warning restore CA1031
            {
                tally.AddFault($"a client ended: {e}");
            }
        });
        thread.Start();
        _threads.Add(thread);
    }
}
