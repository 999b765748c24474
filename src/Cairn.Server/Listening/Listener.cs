using System.Net;
using System.Net.Sockets;
using Cairn.Server.Platform;

namespace Cairn.Server.Listening;

/// <summary>A socket that clients connect to. A name with several addresses has a listener for each.</summary>
internal sealed class Listener : IDisposable
{
    // The maximum number of connections that wait to be accepted. The kernel uses the smaller of this and net.core.somaxconn.
    public const int DefaultBacklog = 4096;

    private readonly UnixSocketFile? _file;

    private Listener(string name, ListenAddress address, Socket socket, UnixSocketFile? file)
    {
        Name = name;
        Address = address;
        Socket = socket;
        _file = file;
        Descriptor = (int)socket.Handle;
    }

    /// <summary>Gets the name for logs and lists: memcached, resp.</summary>
    public string Name { get; }

    public ListenAddress Address { get; }

    public Socket Socket { get; }

    /// <summary>Gets the descriptor for system calls. Valid until the listener is disposed.</summary>
    public int Descriptor { get; }

    public bool IsUnix => _file is not null;

    /// <summary>Gets the IP address, with the actual port if the system chose it; null for a Unix socket.</summary>
    public IPEndPoint? EndPoint { get; private init; }

    /// <summary>Gets the address as text.</summary>
    public string Where => EndPoint?.ToString() ?? Address.ToString();

    /// <summary>Binds the address, or each address of the name, and listens.</summary>
    /// <exception cref="ServerException">An address cannot be listened on.</exception>
    public static List<Listener> Open(string name, ListenAddress address, int backlog = DefaultBacklog)
    {
        if (address.UnixPath is not null)
        {
            if (!OperatingSystem.IsLinux())
            {
                throw new ServerException($"Unix sockets ('{address}') are offered on Linux only. Use a TCP address.");
            }

            var file = UnixSocketFile.Listen(address, backlog);
            return [new Listener(name, address, file.Socket, file)];
        }

        IReadOnlyList<IPAddress> addresses;
        try
        {
            addresses = address.Resolve();
        }
        catch (SocketException e)
        {
            throw new ServerException($"The name '{address.Host}' of the listener '{name}' is not known: {e.Message}.", e);
        }

        var listeners = new List<Listener>();
        try
        {
            int port = address.Port;
            foreach (IPAddress each in addresses)
            {
                if (TryListen(name, address, new IPEndPoint(each, port), backlog, isRequired: addresses.Count == 1) is { } listener)
                {
                    listeners.Add(listener);
                    port = listener.EndPoint!.Port; // All addresses of a name share the chosen port.
                }
            }

            return listeners.Count > 0
                ? listeners
                : throw new ServerException($"None of the addresses of '{address}' can be listened on.");
        }
        catch
        {
            listeners.ForEach(listener => listener.Dispose());
            throw;
        }
    }

    public void Dispose()
    {
        if (!OperatingSystem.IsWindows())
        {
            _file?.Remove();
        }

        Socket.Dispose();
    }

    private static Listener? TryListen(string name, ListenAddress address, IPEndPoint endPoint, int backlog, bool isRequired)
    {
        Socket? socket = null;
        try
        {
            socket = new Socket(endPoint.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
            if (endPoint.AddressFamily == AddressFamily.InterNetworkV6)
            {
                // "*" means both families. An IPv6 address means only itself.
                socket.DualMode = endPoint.Address.Equals(IPAddress.IPv6Any) && address.Host == "*";
            }

            // Accepted sockets inherit these options.
            socket.NoDelay = true;
            if (IPAddress.IsLoopback(endPoint.Address))
            {
                LinuxSockets.KeepCongestionControlPlain(socket);
            }

            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, optionValue: true);
            socket.Bind(endPoint);
            socket.Listen(backlog);
            return new Listener(name, address, socket, file: null) { EndPoint = (IPEndPoint)socket.LocalEndPoint! };
        }
        catch (SocketException e)
        {
            socket?.Dispose();
            if (e.SocketErrorCode is SocketError.AddressFamilyNotSupported or SocketError.AddressNotAvailable)
            {
                if (address.Host == "*" && endPoint.AddressFamily == AddressFamily.InterNetworkV6)
                {
                    return TryListen(name, address, new IPEndPoint(IPAddress.Any, endPoint.Port), backlog, isRequired);
                }

                if (!isRequired)
                {
                    return null; // A machine without IPv6 still resolves localhost to ::1.
                }
            }

            throw new ServerException(Explain(name, endPoint, e), e);
        }
    }

    // The listener of both protocols is the only one whose name is not the name of its option.
    private static string Another(string name, IPEndPoint endPoint) =>
        $"--{(name.Contains(' ', StringComparison.Ordinal) ? "both" : name)} {new IPEndPoint(endPoint.Address, Math.Min(endPoint.Port + 1, IPEndPoint.MaxPort))}";

    private static string Explain(string name, IPEndPoint endPoint, SocketException e) => e.SocketErrorCode switch
    {
        SocketError.AddressAlreadyInUse =>
            $"Another program listens on {endPoint} already, so this server cannot listen there for {name}. Stop the other program, or choose another port: {Another(name, endPoint)}.",
        SocketError.AccessDenied =>
            $"This user may not listen on {endPoint} for '{name}'. Choose a port from 1024 on, or give the server the right to lower ones.",
        SocketError.AddressNotAvailable =>
            $"This machine has no address {endPoint.Address}, so '{name}' cannot listen on it.",
        _ => $"Listening on {endPoint} for '{name}' failed: {e.Message}.",
    };
}
