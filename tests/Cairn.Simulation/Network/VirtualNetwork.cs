// The network between machines and servers. Bytes of a connection arrive in order, after the latency of their link, in fragments of any size.
//
//   machine --up--> server      machine <--down-- server
//
// A partition keeps fragments back in one direction or both, as retransmission does, and delivers them when it ends. A cut ends a connection
// after any number of bytes. A side that vanishes leaves the other half open: that one learns nothing.
using System.Net;
using System.Net.Sockets;
using Cairn.Simulation.Rewriting;
using Cairn.Simulation.Scheduling;
using Cairn.Simulation.Servers;

namespace Cairn.Simulation.Network;

internal sealed class VirtualNetwork(World world)
{
    private const int RetransmissionMs = 300;

    private readonly Dictionary<EndPoint, VirtualServer> _servers = [];
    private readonly Dictionary<(Place, VirtualServer), Link> _links = [];
    private readonly List<VirtualConnection> _connections = [];
    private readonly SeededRandom _random = SeededRandom.For(world.Seed, "network");

    public World World => world;

    public SeededRandom Random => _random;

    /// <summary>Gets the network of the world that runs on this thread.</summary>
    public static VirtualNetwork Current => ((Host)World.Current.Here).Network;

    /// <summary>Gets the connections that are open on at least one side.</summary>
    public IReadOnlyList<VirtualConnection> Connections => _connections;

    public void Add(EndPoint place, VirtualServer server) => _servers.Add(place, server);

    public Link LinkOf(Place machine, VirtualServer server)
    {
        if (!_links.TryGetValue((machine, server), out Link? link))
        {
            _links.Add((machine, server), link = new Link());
        }

        return link;
    }

    /// <summary>Connects the machine whose work runs now.</summary>
    public async ValueTask<VirtualConnection> ConnectAsync(EndPoint to, CancellationToken cancellationToken)
    {
        Place machine = world.Here;
        VirtualServer server = _servers[to];
        Link link = LinkOf(machine, server);
        var connected = new TaskCompletionSource<VirtualConnection>(TaskCreationOptions.RunContinuationsAsynchronously);
        int life = machine.Life;
        world.Schedule(link.Latency(_random, isUp: true) + link.Latency(_random, isUp: false), () => Finish());
        return await Hooks.WaitAsync(connected.Task, cancellationToken);

        void Finish()
        {
            if (machine.Life != life || cancellationToken.IsCancellationRequested)
            {
                return;
            }

            if (link.IsCut(isUp: true) || link.IsCut(isUp: false) || server.IsUnreachable)
            {
                world.Schedule(RetransmissionMs * TimeSpan.TicksPerMillisecond, Finish);
                return;
            }

            if (!server.IsListening)
            {
                world.RunAt(machine, () => connected.TrySetException(new SocketException((int)SocketError.ConnectionRefused)));
                return;
            }

            var connection = new VirtualConnection(this, machine, server, link);
            _connections.Add(connection);
            server.Accept(connection);
            world.RunAt(machine, () => connected.TrySetResult(connection));
        }
    }

    /// <summary>Ends a partition: what was kept back arrives after the time of a retransmission.</summary>
    public void Heal(Link link)
    {
        link.CutUp = link.CutDown = false;
        foreach (VirtualConnection connection in _connections.Where(connection => connection.Link == link))
        {
            connection.Up.Resume(_random.Between(0, RetransmissionMs * TimeSpan.TicksPerMillisecond));
            connection.Down.Resume(_random.Between(0, RetransmissionMs * TimeSpan.TicksPerMillisecond));
        }
    }

    /// <summary>Ends the connections of a place that has crashed.</summary>
    /// <param name="place">A machine or a server.</param>
    /// <param name="isSilent">Whether the other side learns nothing, because power or network is gone too.</param>
    public void Drop(Place place, bool isSilent)
    {
        foreach (VirtualConnection connection in _connections.ToArray())
        {
            if (connection.Machine == place)
            {
                connection.EndMachine(isSilent);
            }
            else if (connection.Server == place)
            {
                connection.EndServer(isSilent);
            }
        }
    }

    public void Forget(VirtualConnection connection) => _connections.Remove(connection);
}
