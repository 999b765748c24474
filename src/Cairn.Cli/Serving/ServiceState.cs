using System.Net.Sockets;

namespace Cairn.Cli.Serving;

// Reports the server's state to the service manager with the protocol of sd_notify(3): a datagram of lines to the Unix socket named by an
// environment variable. systemd uses it for units with Type=notify, and any other parent process can.
internal static class ServiceState
{
    public const string SocketVariable = "NOTIFY_SOCKET";
    public const string Ready = "READY=1";
    public const string Stopping = "STOPPING=1";

    /// <summary>Sends a state. Has no effect if there is no service manager, or if it has ended.</summary>
    public static void Notify(Func<string, string?> environment, string state)
    {
        string? path = environment(SocketVariable);
        if (string.IsNullOrEmpty(path) || !Socket.OSSupportsUnixDomainSockets)
        {
            return;
        }

        try
        {
            // A leading @ means the zero byte of an abstract name of Linux.
            using var socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
            socket.SendTo(Encoding.UTF8.GetBytes(state), new UnixDomainSocketEndPoint(path[0] == '@' ? "\0" + path[1..] : path));
        }
        catch (SocketException)
        {
            // The service manager does not listen. The server runs without it.
        }
    }
}
