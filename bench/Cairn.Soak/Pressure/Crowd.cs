using System.Diagnostics;
using Cairn.Soak.Load;

namespace Cairn.Soak.Pressure;

/// <summary>All clients that put pressure on a server. One thread of low priority drives each of them about once a second.</summary>
internal sealed class Crowd : IDisposable
{
    private const int TicksPerSecond = 1000; // Few clients act in one tick, because independent clients do not read at the same moment.
    private const int MessageBytes = 4_000;
    private const int MessagesPerSecond = 10;

    private static readonly TimeSpan LongestGreeting = TimeSpan.FromSeconds(60);

    private readonly CrowdClient[] _clients;
    private readonly LineConnection _publisher;
    private readonly string _message = RespClient.Request("PUBLISH", Greed.Channel, new string('m', MessageBytes));
    private readonly CancellationTokenSource _over = new();
    private readonly Thread _thread;
    private volatile bool _isGreeted;

    /// <summary>Connects all clients and starts to drive them.</summary>
    public Crowd(PressedServer server, int slowReaders, int greedyClients)
    {
        _publisher = new LineConnection(server.Port);
        _clients =
        [
            .. Enumerable.Range(0, slowReaders).Select(_ => new CrowdClient(server, Greed.SlowReader)),
            .. Enumerable.Range(0, greedyClients).Select(i => new CrowdClient(server, Greed.Greedy[i % Greed.Greedy.Length])),
        ];

        // After the shuffle, each tick drives a mix of all kinds.
        new Random(1).Shuffle(_clients);
        _thread = new Thread(Drive) { IsBackground = true };
        _thread.Start();
    }

    /// <summary>Gets whether every client has sent its request. A client without an answer after a minute counts too.</summary>
    public bool IsGreeted => _isGreeted;

    /// <summary>Stops the driving and returns the counts of the clients.</summary>
    public CrowdFigures Leave()
    {
        _over.Cancel();
        _thread.Join();
        return new CrowdFigures(
            _clients.Count(client => client.IsAccepted),
            _clients.Count(client => !client.IsAccepted),
            _clients.Count(client => client is { IsAccepted: true, IsClosed: true, IsReader: true }),
            _clients.Count(client => client is { IsAccepted: true, IsClosed: true, IsReader: false }));
    }

    public void Dispose()
    {
        Leave();
        Array.ForEach(_clients, client => client.Dispose());
        _publisher.Dispose();
        _over.Dispose();
    }

    private void Drive()
    {
        ThreadRank.StepBack();
        var pace = new Pace(TicksPerSecond);
        long began = Stopwatch.GetTimestamp();
        for (int tick = 0; !_over.IsCancellationRequested; tick++)
        {
            pace.Wait(_over.Token);
            for (int i = tick % TicksPerSecond; i < _clients.Length; i += TicksPerSecond)
            {
                _clients[i].Step();
            }

            if (tick % (TicksPerSecond / MessagesPerSecond) == 0)
            {
                _publisher.Send(_message);
                _publisher.ReadLine();
            }

            if (tick % TicksPerSecond == 0 && !_isGreeted)
            {
                _isGreeted = Array.TrueForAll(_clients, client => client.IsAccepted || client.IsClosed) || Stopwatch.GetElapsedTime(began) > LongestGreeting;
            }
        }
    }
}
