using System.Net.Sockets;

namespace Cairn.Soak.Load;

/// <summary>Fills the store with entries of all sizes, most of which expire. Also requests more data than it reads.</summary>
internal sealed class GreedyClients(ServerPorts ports, double perSecond, int seed, LoadTally tally)
{
    private const int LargeBytes = 300_000;
    private const int LargeKeys = 20;
    private const int RequestsOfReader = 50;
    private const int ReadsOfReader = 40;

    private readonly Random _random = new(seed);

    public void Run(CancellationToken stop)
    {
        var pace = new Pace(perSecond);
        long number = 0;
        while (!stop.IsCancellationRequested)
        {
            try
            {
                using var client = new RespClient(ports.Resp);
                while (!stop.IsCancellationRequested)
                {
                    pace.Wait(stop);
                    int length = _random.Next(100) == 0 ? LargeBytes : _random.Next(50, 3_000);
                    string key = length == LargeBytes ? "large:" + LineConnection.Text(_random.Next(LargeKeys)) : "fill:" + LineConnection.Text(number++ % 200_000);
                    if (!client.Set(key, new string('f', length), length == LargeBytes ? 0 : _random.Next(5, 300)))
                    {
                        tally.CountRefusal();
                    }

                    if (_random.Next(400) == 0)
                    {
                        ReadSlowly();
                    }
                }
            }
            catch (SocketException)
            {
                tally.CountBrokenConnection();
                stop.WaitHandle.WaitOne(20);
            }
        }
    }

    // Requests many large replies and reads a part of them.
    private void ReadSlowly()
    {
        using var reader = new LineConnection(ports.Resp);
        string[] words = ["MGET", .. Enumerable.Range(0, RequestsOfReader).Select(_ => "large:" + LineConnection.Text(_random.Next(LargeKeys)))];
        reader.Send(RespClient.Request(words));
        for (int i = 0; i < ReadsOfReader && reader.ReadSome(4_096) > 0; i++)
        {
        }

        tally.CountConnection();
    }
}
