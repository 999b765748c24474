using Cairn.Simulation.Scheduling;
using Cairn.Simulation.Servers;

namespace Cairn.Simulation.Network;

/// <summary>A connection between a machine and a server.</summary>
internal sealed class VirtualConnection
{
    private readonly VirtualNetwork _network;
    private readonly int _machineLife;
    private readonly int _serverLife;
    private bool _isMachineOpen = true;
    private bool _isServerOpen = true;

    public VirtualConnection(VirtualNetwork network, Place machine, VirtualServer server, Link link)
    {
        _network = network;
        (Machine, Server, Link) = (machine, server, link);
        (_machineLife, _serverLife) = (machine.Life, server.Life);
        Up = new Direction(network, this, isUp: true);
        Down = new Direction(network, this, isUp: false);
    }

    public Place Machine { get; }

    public VirtualServer Server { get; }

    public Link Link { get; }

    public Direction Up { get; }

    public Direction Down { get; }

    /// <summary>Gets or sets the end of the connection on the machine.</summary>
    public VirtualStream? Stream { get; set; }

    /// <summary>Gets or sets what the server keeps for this connection.</summary>
    public object? Session { get; set; }

    public bool IsMachineOpen => _isMachineOpen && Machine.Life == _machineLife;

    public bool IsServerOpen => _isServerOpen && Server.Life == _serverLife;

    /// <summary>Closes the machine's side. The server reads the end of the stream.</summary>
    public void CloseFromMachine()
    {
        if (_isMachineOpen)
        {
            _isMachineOpen = false;
            Up.End();
            ForgetIfOver();
        }
    }

    /// <summary>Closes the server's side. The machine reads the end of the stream.</summary>
    public void CloseFromServer()
    {
        if (_isServerOpen)
        {
            _isServerOpen = false;
            Down.End();
            ForgetIfOver();
        }
    }

    public void EndMachine(bool isSilent)
    {
        if (!isSilent)
        {
            Up.End();
        }

        _isMachineOpen = false;
        ForgetIfOver();
    }

    public void EndServer(bool isSilent)
    {
        if (!isSilent)
        {
            Down.End();
        }

        _isServerOpen = false;
        ForgetIfOver();
    }

    /// <summary>Breaks the connection now.</summary>
    /// <param name="tellsMachine">Whether the machine learns of it; if not, its side is half open.</param>
    /// <param name="tellsServer">Whether the server learns of it.</param>
    public void Break(bool tellsMachine, bool tellsServer)
    {
        Up.IsDead = Down.IsDead = true;
        if (tellsMachine && IsMachineOpen)
        {
            _network.World.Schedule(Machine, 0, static connection => ((VirtualConnection)connection!).Stream?.OnReset(), this);
        }

        if (tellsServer)
        {
            Arrive(isUp: true, null);
        }
    }

    /// <summary>Hands bytes to the side that they were sent to; null for the end of the stream.</summary>
    public void Arrive(bool isUp, byte[]? bytes)
    {
        if (isUp)
        {
            if (IsServerOpen)
            {
                _network.World.Run(
                    Server,
                    static state =>
                    {
                        (VirtualConnection connection, byte[]? bytes) = ((VirtualConnection, byte[]?))state!;
                        connection.Server.Receive(connection, bytes);
                    },
                    (this, bytes));
            }
        }
        else if (IsMachineOpen)
        {
            _network.World.Run(
                Machine,
                static state =>
                {
                    (VirtualConnection connection, byte[]? bytes) = ((VirtualConnection, byte[]?))state!;
                    connection.Stream!.OnArrival(bytes);
                },
                (this, bytes));
        }
    }

    private void ForgetIfOver()
    {
        if (!_isMachineOpen && !_isServerOpen)
        {
            _network.Forget(this);
        }
    }
}
