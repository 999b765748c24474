using System.Net;
using System.Net.Sockets;

namespace Cairn.Cli.Clients;

/// <summary>The address of a server: a host and port, or the path of a Unix socket.</summary>
internal sealed record ServerAddress(string Host, int Port, string? UnixPath)
{
    public const string Form = "HOST:PORT, PORT, [IPV6]:PORT, unix:PATH or redis://HOST[:PORT]";

    private const string RespPrefix = "redis://";
    private const string SecureRespPrefix = "rediss://";
    private const int RespPort = 6379;

    private const string UnixPrefix = "unix:";
    private const string LocalHost = "127.0.0.1";

    /// <summary>Returns whether a text is a URL of a server that speaks RESP.</summary>
    public static bool IsRespUrl(string text) => text.StartsWith(RespPrefix, StringComparison.OrdinalIgnoreCase) || IsSecureUrl(text);

    /// <summary>Returns whether a text is a URL of a server that speaks RESP over TLS.</summary>
    public static bool IsSecureUrl(string text) => text.StartsWith(SecureRespPrefix, StringComparison.OrdinalIgnoreCase);

    /// <summary>
    /// Parses an address. A port alone means this machine. A host needs a port, because memcached and Redis have different ones.
    /// </summary>
    /// <exception cref="ToolException">The text is not an address.</exception>
    public static ServerAddress Parse(string text)
    {
        if (IsRespUrl(text))
        {
            return ParseUrl(text);
        }

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

    // A password in a command line can be seen by other users of the machine, so a URL must not have one.
    private static ServerAddress ParseUrl(string text) =>
        !Uri.TryCreate(text, UriKind.Absolute, out Uri? url) || url.Host.Length == 0
            ? throw ToolException.Usage($"'{text}' is no address; one is {Form}")
        : url.UserInfo.Length > 0
            ? throw ToolException.Usage("the address has a user or a password; give --user, and the password in the environment variable CAIRN_PASSWORD")
        : url.PathAndQuery.Length > 1 && url.PathAndQuery != "/0"
            ? throw ToolException.Usage($"'{url.PathAndQuery}' after the address is not supported; the tool reads database 0")
        : new ServerAddress(url.Host.Trim('[', ']'), url.Port > 0 ? url.Port : RespPort, null);

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
