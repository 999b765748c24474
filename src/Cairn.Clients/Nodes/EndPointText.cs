using System.Net;
using System.Net.Sockets;

namespace Cairn.Clients.Nodes;

/// <summary>Parses the text of a server's end point.</summary>
internal static class EndPointText
{
    /// <summary>
    /// Parses a host name, an IP address or the path of a Unix socket. The port is optional. A path begins with a slash, with unix: or with an
    /// exclamation mark, which is StackExchange.Redis' notation.
    /// </summary>
    public static EndPoint Parse(string text, int defaultPort)
    {
        if (TryUnixPath(text, out string? path))
        {
            return new UnixDomainSocketEndPoint(path);
        }

        int port = defaultPort;
        string host = text;
        int colon = text.LastIndexOf(':');
        bool hasPort = colon >= 0 && (text.IndexOf(':', StringComparison.Ordinal) == colon || text[colon - 1] == ']');
        if (hasPort)
        {
            host = text[..colon];
            if (!int.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out port) || port is < 1 or > IPEndPoint.MaxPort)
            {
                throw new FormatException($"'{text}' names no server: '{text[(colon + 1)..]}' is no port from 1 to 65535.");
            }
        }

        if (host.StartsWith('[') && host.EndsWith(']'))
        {
            host = host[1..^1];
        }

        if (host.Length == 0 || host.Any(char.IsWhiteSpace))
        {
            throw new FormatException($"'{text}' names no server: it is HOST:PORT, HOST, [IPV6]:PORT or unix:PATH of a Unix socket.");
        }

        return IPAddress.TryParse(host, out IPAddress? address) ? new IPEndPoint(address, port) : new DnsEndPoint(host, port);
    }

    private static bool TryUnixPath(string text, [NotNullWhen(true)] out string? path)
    {
        path = text.StartsWith("unix:", StringComparison.Ordinal) ? text["unix:".Length..]
            : text.StartsWith('!') ? text[1..]
            : text.StartsWith('/') ? text
            : null;
        return path is { Length: > 0 };
    }
}
