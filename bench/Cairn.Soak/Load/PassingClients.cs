using System.Net.Sockets;

namespace Cairn.Soak.Load;

/// <summary>
/// Clients that connect, send a few requests and leave. They leave in good order, with a reset, in the middle of a request, in a transaction, or as a
/// subscriber.
/// </summary>
internal sealed class PassingClients(ServerPorts ports, double perSecond, int seed, LoadTally tally)
{
    private readonly Random _random = new(seed);

    public void Run(CancellationToken stop)
    {
        var pace = new Pace(perSecond);
        while (!stop.IsCancellationRequested)
        {
            pace.Wait(stop);
            try
            {
                Pass();
                tally.CountConnection();
            }
            catch (SocketException)
            {
                tally.CountBrokenConnection();
            }
        }
    }

    private void Pass()
    {
        bool isResp = _random.Next(2) == 0;
        using var connection = new LineConnection(isResp ? ports.Resp : ports.Memcached);
        switch (_random.Next(isResp ? 6 : 3))
        {
            case 0:
                connection.Send(isResp ? RespClient.Request("PING") : "version\r\n");
                connection.ReadLine();
                break;
            case 1:
                connection.Send(isResp ? "*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n$100000\r\nabc" : "set half 0 0 100000\r\nabc");
                break;
            case 2:
                connection.Send(isResp ? RespClient.Request("GET", "absent") : "get absent\r\n");
                connection.Reset();
                break;
            case 3:
                connection.Send(RespClient.Request("MULTI") + RespClient.Request("SET", "queued", new string('q', 5_000)));
                connection.ReadLine();
                break;
            case 4:
                connection.Send(RespClient.Request("SUBSCRIBE", "news:" + LineConnection.Text(_random.Next(50))));
                connection.ReadLine();
                break;
            default:
                connection.Send(RespClient.Request("HELLO", "3") + RespClient.Request("CLIENT", "TRACKING", "ON"));
                connection.ReadLine();
                break;
        }
    }
}
