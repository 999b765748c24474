using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;

namespace Cairn.Testing;

/// <summary>Free ports of the loopback address.</summary>
internal static class FreePorts
{
    // A Cluster's bus has a port of its own, by default this much above. Both have to be below the ports that connections are given.
    public const int BusDistance = 10_000;

    // UDP ports, which nothing here uses otherwise, that stand for the ports this process took. They are its own until it ends, so that
    // no other process of tests takes a port before the server that it is for listens.
    private static readonly ConcurrentBag<Socket> s_claims = [];

    private static int s_next = 15_000 + (Environment.ProcessId % 200 * 20);

    /// <summary>A port that was free a moment ago and that no other test takes, together with the one of the bus.</summary>
    public static int Take() => Take(1);

    /// <summary>The first of some ports in a row, each as <see cref="Take()"/> returns it.</summary>
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
