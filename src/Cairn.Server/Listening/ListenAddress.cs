using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net;

namespace Cairn.Server.Listening;

/// <summary>Where a listener is to be reached: a host and port, or the path of a Unix socket.</summary>
internal sealed record ListenAddress
{
    private ListenAddress()
    {
    }

    /// <summary>A name, an IPv4 or IPv6 address without brackets, or * for every address of the machine; empty for a Unix
    /// socket.</summary>
    public string Host { get; private init; } = "";

    /// <summary>0 lets the system choose.</summary>
    public int Port { get; private init; }

    /// <summary>The Unix socket's path; null for TCP.</summary>
    public string? UnixPath { get; private init; }

    /// <summary>The permission bits of the Unix socket's file: who may connect.</summary>
    public UnixFileMode UnixMode { get; private init; }

    public static ListenAddress Tcp(string host, int port)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(host);
        ArgumentOutOfRangeException.ThrowIfNegative(port);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(port, IPEndPoint.MaxPort);
        return new ListenAddress { Host = host, Port = port };
    }

    /// <summary>A Unix socket.</summary>
    /// <param name="path">Of the socket's file, in a directory that exists.</param>
    /// <param name="mode">Who may connect: those who may write to the file. By default its owner, as with memcached.</param>
    public static ListenAddress Unix(string path, UnixFileMode mode = UnixFileMode.UserRead | UnixFileMode.UserWrite)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        return new ListenAddress { UnixPath = Path.GetFullPath(path), UnixMode = mode };
    }

    /// <summary>Understands HOST:PORT, [IPV6]:PORT, *:PORT and :PORT (both every address), HOST alone, PORT alone (127.0.0.1),
    /// and unix:PATH.</summary>
    /// <param name="text">What somebody wrote.</param>
    /// <param name="defaultPort">The port where none is named.</param>
    /// <param name="address">The address; null if it is none.</param>
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

    /// <summary>The addresses to listen on.</summary>
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
                host = "127.0.0.1"; // Strangers are let in only where somebody writes so.
                port = portAlone;
                return true;
            }

            port = defaultPort;
            host = text;
        }
        else if (text.IndexOf(':', StringComparison.Ordinal) != colon)
        {
            host = text; // IPv6 without brackets has no port.
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
