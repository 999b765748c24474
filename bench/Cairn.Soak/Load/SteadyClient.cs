using System.Net.Sockets;
using Cairn.Soak.Measuring;

namespace Cairn.Soak.Load;

/// <summary>One connection that sends requests at a fixed rate and checks every answer against its model. It reconnects after a kill.</summary>
internal sealed class SteadyClient(
    string name, ServerPorts ports, bool isResp, double perSecond, int seed, LatencyWindow latencies, LoadTally tally)
{
    private const int Keys = 2_000;
    private const int LongestValue = 20_000;
    private const int LongestSeconds = 60;
    private const int ReconnectMs = 20;

    private readonly KeyModel _model = new(name, Keys, LongestValue);
    private readonly Random _random = new(seed);
    private KeyValueClient? _client;

    public void Run(CancellationToken stop)
    {
        var pace = new Pace(perSecond);
        while (!stop.IsCancellationRequested)
        {
            long due = pace.Wait(stop);
            try
            {
                _client ??= KeyValueClient.Connect(ports, isResp);
                Step(_client);
                latencies.Add(due);
                tally.CountRequest();
            }
            catch (SocketException)
            {
                // The server was killed. The time until it answers again counts as its restart, not as a latency.
                Disconnect();
                tally.CountBrokenConnection();
                stop.WaitHandle.WaitOne(ReconnectMs);
            }
            catch (InvalidDataException e)
            {
                Disconnect();
                tally.AddFault($"{name}: {e.Message}");
            }
        }

        Disconnect();
    }

    private void Step(KeyValueClient client)
    {
        int key = _random.Next(_model.Count);
        switch (_random.Next(20))
        {
            case < 6:
                Set(client, key);
                break;
            case 6:
                client.Remove(_model.KeyOf(key));
                _model.Remove(key);
                break;
            default:
                DateTimeOffset asked = DateTimeOffset.UtcNow;
                if (_model.FaultOf(key, client.Get(_model.KeyOf(key)), asked) is { } fault)
                {
                    tally.AddFault($"{name}: {fault}");
                }

                break;
        }
    }

    private void Set(KeyValueClient client, int key)
    {
        int seconds = _random.Next(2) == 0 ? 0 : _random.Next(1, LongestSeconds);
        string value = _model.Begin(key, _random, seconds);
        try
        {
            if (client.Set(_model.KeyOf(key), value, seconds))
            {
                _model.Acknowledge(key, DateTimeOffset.UtcNow);
            }
            else
            {
                tally.CountRefusal();
                _model.Remove(key); // A refused set removes the old value.
            }
        }
        catch (SocketException)
        {
            _model.Abandon(key, DateTimeOffset.UtcNow);
            throw;
        }
    }

    private void Disconnect()
    {
        _client?.Dispose();
        _client = null;
    }
}
