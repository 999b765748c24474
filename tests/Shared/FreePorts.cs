using System.Net;
using System.Net.Sockets;

namespace Cairn.Testing;

/// <summary>Ports of the loopback address that nobody has.</summary>
internal static class FreePorts
{
    // A Cluster's bus has a port of its own, by default this much above. Both have to be below the ports that connections are given.
    public const int BusDistance = 10_000;

    private static int s_next = 15_000 + (Environment.ProcessId % 200 * 20);

    /// <summary>A port that was free a moment ago, together with the one of the bus.</summary>
    public static int Take()
    {
        while (true)
        {
            int port = Interlocked.Increment(ref s_next);
            if (IsFree(port) && IsFree(port + BusDistance))
            {
                return port;
            }
        }
    }

    private static bool IsFree(int port)
    {
        using var probe = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            probe.Bind(new IPEndPoint(IPAddress.Loopback, port));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
