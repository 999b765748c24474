using System.Net.Sockets;
using Cairn.Server.Platform;

namespace Cairn.Server.Listening;

/// <summary>A client that was accepted, on its way to its worker: a descriptor, or a socket of .NET.</summary>
[StructLayout(LayoutKind.Auto)]
internal readonly struct AcceptedSocket
{
    public AcceptedSocket(int descriptor) => Descriptor = descriptor;

    public AcceptedSocket(Socket socket)
    {
        Descriptor = -1;
        Socket = socket;
    }

    public int Descriptor { get; }

    public Socket? Socket { get; }

    /// <summary>Closes the connection, after sending a reason if the protocol has one. Never waits for the client.</summary>
    public void Refuse(ReadOnlySpan<byte> reason)
    {
        if (Socket is { } socket)
        {
            try
            {
                socket.Blocking = false;
                _ = socket.Send(reason, SocketFlags.None, out _);
                socket.Shutdown(SocketShutdown.Send);
            }
            catch (SocketException)
            {
                // The client has already gone.
            }

            socket.Dispose();
            return;
        }

        LinuxSockets.TrySend(Descriptor, reason);
        LinuxSockets.ShutdownSend(Descriptor);
        LinuxSockets.CloseDescriptor(Descriptor);
    }
}
