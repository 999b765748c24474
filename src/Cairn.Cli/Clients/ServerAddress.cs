using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Cairn.Cli.Clients;

/// <summary>The address of a server: a host and port, or the path of a Unix socket.</summary>
internal sealed record ServerAddress(string Host, int Port, string? UnixPath)
{
    public const string Form = "HOST:PORT, PORT, [IPV6]:PORT or unix:PATH";

    private const string UnixPrefix = "unix:";
    private const string LocalHost = "127.0.0.1";

    /// <summary>
    /// Parses an address. A port alone means this machine. A host needs a port, because memcached and Redis have different ones.
    /// </summary>
    /// <exception cref="ToolException">The text is not an address.</exception>
    public static ServerAddress Parse(string text)
    {
        if (text.StartsWith(UnixPrefix, StringComparison.OrdinalIgnoreCase) && text.Length > UnixPrefix.Length)
        {
            return new ServerAddress("", 0, text[UnixPrefix.Length..]);
        }

        int colon = text.LastIndexOf(':');
        string host = colon < 0 ? LocalHost : text[..colon];
        if (host.StartsWith('[') && host.EndsWith(']') && IPAddress.TryParse(host[1..^1], out _))
        {
            host = host[1..^1];
        }
        else if (host.Contains(':', StringComparison.Ordinal))
        {
            host = "";
        }

        return host.Length > 0 && !host.Any(char.IsWhiteSpace)
            && int.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out int port)
            && port is > 0 and <= IPEndPoint.MaxPort
            ? new ServerAddress(host, port, null)
            : throw ToolException.Usage($"'{text}' is no address; one is {Form}");
    }

    /// <summary>Returns the endpoints to connect to; several if a name has several addresses.</summary>
    /// <exception cref="SocketException">The name is not known.</exception>
    public IReadOnlyList<EndPoint> Resolve()
    {
        if (UnixPath is not null)
        {
            return [new UnixDomainSocketEndPoint(UnixPath)];
        }

        IPAddress[] addresses = IPAddress.TryParse(Host, out IPAddress? address) ? [address] : Dns.GetHostAddresses(Host);
        return [.. addresses.Select(ip => new IPEndPoint(ip, Port))];
    }

    /// <summary>Returns whether all endpoints are on this machine.</summary>
    /// <exception cref="SocketException">The name is not known.</exception>
    public bool IsLocal() => Resolve().All(place => place is not IPEndPoint ip || IPAddress.IsLoopback(ip.Address));

    public override string ToString() => UnixPath is not null
        ? UnixPrefix + UnixPath
        : string.Create(CultureInfo.InvariantCulture, $"{(Host.Contains(':', StringComparison.Ordinal) ? $"[{Host}]" : Host)}:{Port}");
}
