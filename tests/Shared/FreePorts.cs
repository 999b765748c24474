using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;

namespace Cairn.Testing;

/// <summary>Finds free ports of the loopback address.</summary>
internal static class FreePorts
{
    // A Cluster's bus has a port of its own, which is higher by this number by default. Both ports must be below the range of ephemeral ports.
    public const int BusDistance = 10_000;

    // UDP sockets that claim the ports which this process took. The tests use no UDP otherwise. The claims last until the process ends, so no other test
    // process takes a port before its server listens.
    private static readonly ConcurrentBag<Socket> s_claims = [];

    private static int s_next = 15_000 + (Environment.ProcessId % 200 * 20);

    /// <summary>Returns a port that was free a moment ago and that no other test takes. The port of its bus was free too.</summary>
    public static int Take() => Take(1);

    /// <summary>Returns the first of <paramref name="count"/> consecutive ports. Each is as free as that of <see cref="Take()"/>.</summary>
    public static int Take(int count)
    {
        while (true)
        {
            int first = Interlocked.Add(ref s_next, count) - count + 1;
            if (Enumerable.Range(first, count).All(port => TryClaim(port) && IsFree(port) && IsFree(port + BusDistance)))
            {
                return first;
            }
        }
    }

    private static bool TryClaim(int port)
    {
        var claim = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        if (!TryBind(claim, port))
        {
            claim.Dispose();
            return false;
        }

        s_claims.Add(claim);
        return true;
    }

    private static bool IsFree(int port)
    {
        using var probe = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        return TryBind(probe, port);
    }

    private static bool TryBind(Socket socket, int port)
    {
        try
        {
            socket.Bind(new IPEndPoint(IPAddress.Loopback, port));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
