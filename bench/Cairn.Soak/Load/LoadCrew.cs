using Cairn.Soak.Measuring;

namespace Cairn.Soak.Load;

/// <summary>The clients of one server, each on a thread of its own.</summary>
internal sealed class LoadCrew : IDisposable
{
    private const int SteadyClients = 4;
    private const double PassingPerSecond = 10;
    private const double FillsPerSecond = 200;

    private readonly CancellationTokenSource _stop = new();
    private readonly List<Thread> _threads = [];

    /// <param name="name">Begins the keys of the clients: other crews of the same store must have another.</param>
    /// <param name="ports">Where the server is.</param>
    /// <param name="requestsPerSecond">The rate of all steady clients together.</param>
    /// <param name="seed">Decides what they ask for.</param>
    /// <param name="tally">Counts what they did.</param>
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
#pragma warning disable CA1031 // A client that fails is a fault of the piece, not the end of the run.
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
