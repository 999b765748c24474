using System.Net;
using System.Net.Sockets;

namespace Cairn.Simulation.Network;

/// <summary>Takes the place of <see cref="Socket"/>.</summary>
#pragma warning disable CS9113 // The parameters are those of the socket.
public sealed class VirtualSocket(AddressFamily family, SocketType type, ProtocolType protocol) : IDisposable
#pragma warning restore CS9113
{
    public bool NoDelay { get; set; }

    internal VirtualConnection? Connection { get; private set; }

    public void SetSocketOption(SocketOptionLevel level, SocketOptionName name, bool value)
    {
    }

    public async ValueTask ConnectAsync(EndPoint remoteEP, CancellationToken cancellationToken) =>
        Connection = await VirtualNetwork.Current.ConnectAsync(remoteEP, cancellationToken);

    public void Dispose() => Connection?.CloseFromMachine();
}
