using System.Net.Sockets;
using System.Text;

namespace Cairn.Cli.Serving;

// Tells the service manager how the server is, by the protocol of sd_notify(3): a datagram of lines to the Unix socket that an
// environment variable names. Whoever starts a server can use it; systemd does for units with Type=notify.
internal static class ServiceState
{
    public const string SocketVariable = "NOTIFY_SOCKET";
    public const string Ready = "READY=1";
    public const string Stopping = "STOPPING=1";

    /// <summary>Sends a state. Without a service manager, or with one that is gone, nothing happens.</summary>
    public static void Notify(Func<string, string?> environment, string state)
    {
        string? path = environment(SocketVariable);
        if (string.IsNullOrEmpty(path) || !Socket.OSSupportsUnixDomainSockets)
        {
            return;
        }

        try
        {
            // A leading @ stands for the zero byte of Linux' abstract names.
            using var socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
            socket.SendTo(Encoding.UTF8.GetBytes(state), new UnixDomainSocketEndPoint(path[0] == '@' ? "\0" + path[1..] : path));
        }
        catch (SocketException)
        {
            // It asked to be told and does not listen: its loss.
        }
    }
}
