
using Cairn.Server.Listening;

namespace Cairn.Server.Connections;

/// <summary>The options of a listener: its address and its protocol.</summary>
internal sealed record ListenerOptions
{
    /// <summary>Gets the name for logs and lists: memcached, resp.</summary>
    public required string Name { get; init; }

    public required ListenAddress Address { get; init; }

    public required SessionFactory Sessions { get; init; }

    /// <summary>Gets the TLS options; null for no TLS.</summary>
    public TlsOptions? Tls { get; init; }
}
