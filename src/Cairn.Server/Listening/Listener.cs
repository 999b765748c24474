using System.Net;
using System.Net.Sockets;
using Cairn.Server.Connections;
using Cairn.Server.Io;
using Cairn.Server.Tls;

namespace Cairn.Server.Listening;

/// <summary>A socket that clients connect to. A name that stands for several addresses has a listener for each.</summary>
internal sealed class Listener : IDisposable
{
    // Connections that wait to be accepted; the kernel takes the lesser of this and net.core.somaxconn.
    private const int Backlog = 4096;

    private readonly UnixSocketFile? _file;

    private Listener(ListenerOptions options, CertificateSource? tls, Socket socket, UnixSocketFile? file)
    {
        Name = options.Name;
        Address = options.Address;
        Sessions = options.Sessions;
        Tls = tls;
        Socket = socket;
        _file = file;
        Descriptor = (int)socket.Handle;
    }

    public string Name { get; }

    public ListenAddress Address { get; }

    public SessionFactory Sessions { get; }

    public CertificateSource? Tls { get; }

    public Socket Socket { get; }

    /// <summary>The socket, for system calls. Valid until it is disposed of.</summary>
    public int Descriptor { get; }

    public bool IsUnix => _file is not null;

    /// <summary>Where it listens: with the port that the system chose, if it did. Null for a Unix socket.</summary>
    public IPEndPoint? EndPoint { get; private init; }

    /// <summary>Where it listens, in words.</summary>
    public string Where => EndPoint?.ToString() ?? Address.ToString();

    /// <summary>Binds the address, or each address of the name, and listens.</summary>
    /// <exception cref="ServerException">An address cannot be had.</exception>
    public static List<Listener> Open(ListenerOptions options, CertificateSource? tls)
    {
        if (options.Address.UnixPath is not null)
        {
            if (!OperatingSystem.IsLinux())
            {
                throw new ServerException($"Unix sockets ('{options.Address}') are offered on Linux only. Use a TCP address.");
            }

            var file = UnixSocketFile.Listen(options.Address, Backlog);
            return [new Listener(options, tls, file.Socket, file)];
        }

        IReadOnlyList<IPAddress> addresses;
        try
        {
            addresses = options.Address.Resolve();
        }
        catch (SocketException e)
        {
            throw new ServerException($"The name '{options.Address.Host}' of the listener '{options.Name}' is not known: {e.Message}.", e);
        }

        var listeners = new List<Listener>();
        try
        {
            int port = options.Address.Port;
            foreach (IPAddress address in addresses)
            {
                if (TryListen(options, tls, new IPEndPoint(address, port), isRequired: addresses.Count == 1) is { } listener)
                {
                    listeners.Add(listener);
                    port = listener.EndPoint!.Port; // All addresses of a name share the port that was chosen.
                }
            }

            return listeners.Count > 0
                ? listeners
                : throw new ServerException($"None of the addresses of '{options.Address}' can be listened on.");
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

    private static Listener? TryListen(ListenerOptions options, CertificateSource? tls, IPEndPoint endPoint, bool isRequired)
    {
        Socket? socket = null;
        try
        {
            socket = new Socket(endPoint.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
            if (endPoint.AddressFamily == AddressFamily.InterNetworkV6)
            {
                // "*" means both families; an IPv6 address means itself.
                socket.DualMode = endPoint.Address.Equals(IPAddress.IPv6Any) && options.Address.Host == "*";
            }

            // Accepted sockets inherit all of it.
            socket.NoDelay = true;
            if (IPAddress.IsLoopback(endPoint.Address))
            {
                LinuxSockets.KeepCongestionControlPlain(socket);
            }

            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, optionValue: true);
            socket.Bind(endPoint);
            socket.Listen(Backlog);
            return new Listener(options, tls, socket, file: null) { EndPoint = (IPEndPoint)socket.LocalEndPoint! };
        }
        catch (SocketException e)
        {
            socket?.Dispose();
            if (e.SocketErrorCode is SocketError.AddressFamilyNotSupported or SocketError.AddressNotAvailable)
            {
                if (options.Address.Host == "*" && endPoint.AddressFamily == AddressFamily.InterNetworkV6)
                {
                    return TryListen(options, tls, new IPEndPoint(IPAddress.Any, endPoint.Port), isRequired);
                }

                if (!isRequired)
                {
                    return null; // A machine without IPv6 still resolves localhost to ::1.
                }
            }

            throw new ServerException(Explain(options, endPoint, e), e);
        }
    }

    // The listener of both protocols has the only name that is not its option's.
    private static string Another(ListenerOptions options, IPEndPoint endPoint) =>
        $"--{(options.Name.Contains(' ', StringComparison.Ordinal) ? "both" : options.Name)} {new IPEndPoint(endPoint.Address, Math.Min(endPoint.Port + 1, IPEndPoint.MaxPort))}";

    private static string Explain(ListenerOptions options, IPEndPoint endPoint, SocketException e) => e.SocketErrorCode switch
    {
        SocketError.AddressAlreadyInUse =>
            $"Another program listens on {endPoint} already, so this server cannot listen there for {options.Name}. Stop the other program, or choose another port: {Another(options, endPoint)}.",
        SocketError.AccessDenied =>
            $"This user may not listen on {endPoint} for '{options.Name}'. Choose a port from 1024 on, or give the server the right to lower ones.",
        SocketError.AddressNotAvailable =>
            $"This machine has no address {endPoint.Address}, so '{options.Name}' cannot listen on it.",
        _ => $"Listening on {endPoint} for '{options.Name}' failed: {e.Message}.",
    };
}
