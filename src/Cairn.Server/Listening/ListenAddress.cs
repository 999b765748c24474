using System.Net;

namespace Cairn.Server.Listening;

/// <summary>The address of a listener: a host and port, or the path of a Unix socket.</summary>
internal sealed record ListenAddress
{
    private ListenAddress()
    {
    }

    /// <summary>Gets the name, the IPv4 or IPv6 address without brackets, or * for every address of the machine; empty for a Unix
    /// socket.</summary>
    public string Host { get; private init; } = "";

    /// <summary>Gets the port; 0 lets the system choose.</summary>
    public int Port { get; private init; }

    /// <summary>Gets the Unix socket's path; null for TCP.</summary>
    public string? UnixPath { get; private init; }

    /// <summary>Gets the permissions of the Unix socket's file, which determine the users that may connect.</summary>
    public UnixFileMode UnixMode { get; private init; }

    public static ListenAddress Tcp(string host, int port)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(host);
        ArgumentOutOfRangeException.ThrowIfNegative(port);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(port, IPEndPoint.MaxPort);
        return new ListenAddress { Host = host, Port = port };
    }

    /// <summary>Creates the address of a Unix socket.</summary>
    /// <param name="path">The path of the socket's file, in a directory that exists.</param>
    /// <param name="mode">The permissions of the file. Users with write permission may connect. Default: the owner, as in
    /// memcached.</param>
    public static ListenAddress Unix(string path, UnixFileMode mode = UnixFileMode.UserRead | UnixFileMode.UserWrite)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        return new ListenAddress { UnixPath = Path.GetFullPath(path), UnixMode = mode };
    }

    /// <summary>Parses HOST:PORT, [IPV6]:PORT, *:PORT and :PORT (both for every address), HOST alone, PORT alone (127.0.0.1), and
    /// unix:PATH.</summary>
    /// <param name="text">The text.</param>
    /// <param name="defaultPort">The port if the text has none.</param>
    /// <param name="address">The address; null if the text is not valid.</param>
    public static bool TryParse(string text, int defaultPort, [NotNullWhen(true)] out ListenAddress? address)
    {
        const string UnixPrefix = "unix:";
        address = null;
        if (text.StartsWith(UnixPrefix, StringComparison.OrdinalIgnoreCase))
        {
            if (text.Length > UnixPrefix.Length)
            {
                address = Unix(text[UnixPrefix.Length..]);
            }

            return address is not null;
        }

        if (!TrySplit(text.Trim(), defaultPort, out string host, out int port))
        {
            return false;
        }

        address = Tcp(host, port);
        return true;
    }

    /// <summary>Returns the IP addresses to listen on.</summary>
    /// <exception cref="System.Net.Sockets.SocketException">The name is not known.</exception>
    public IReadOnlyList<IPAddress> Resolve()
    {
        if (Host == "*")
        {
            return [IPAddress.IPv6Any];
        }

        return IPAddress.TryParse(Host, out IPAddress? ip) ? [ip] : Dns.GetHostAddresses(Host);
    }

    public override string ToString() => UnixPath is not null
        ? $"unix:{UnixPath}"
        : string.Create(CultureInfo.InvariantCulture, $"{(Host.Contains(':', StringComparison.Ordinal) ? $"[{Host}]" : Host)}:{Port}");

    private static bool TrySplit(string text, int defaultPort, out string host, out int port)
    {
        host = "";
        port = defaultPort;
        int colon = text.LastIndexOf(':');
        if (text.StartsWith('['))
        {
            int end = text.IndexOf(']', StringComparison.Ordinal);
            if (end < 0 || (end + 1 < text.Length && text[end + 1] != ':'))
            {
                return false;
            }

            host = text[1..end];
            return IPAddress.TryParse(host, out _) && (end + 1 == text.Length || TryPort(text[(end + 2)..], out port));
        }

        if (colon < 0)
        {
            if (TryPort(text, out int portAlone))
            {
                host = "127.0.0.1"; // Other machines get access only if the options say so.
                port = portAlone;
                return true;
            }

            port = defaultPort;
            host = text;
        }
        else if (text.IndexOf(':', StringComparison.Ordinal) != colon)
        {
            host = text; // An IPv6 address without brackets has no port.
            return IPAddress.TryParse(text, out _);
        }
        else
        {
            host = colon == 0 ? "*" : text[..colon];
            if (!TryPort(text[(colon + 1)..], out port))
            {
                return false;
            }
        }

        return host.Length > 0 && !host.Any(char.IsWhiteSpace);
    }

    private static bool TryPort(string text, out int port) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out port) && port <= IPEndPoint.MaxPort;
}
