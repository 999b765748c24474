using Cairn.Server.Connections;

namespace Cairn.Server.Listening;

/// <summary>An address, and what is spoken to those who connect to it.</summary>
internal sealed record ListenerOptions
{
    /// <summary>For logs and lists: memcached, resp.</summary>
    public required string Name { get; init; }

    public required ListenAddress Address { get; init; }

    public required SessionFactory Sessions { get; init; }

    /// <summary>Null for none.</summary>
    public TlsOptions? Tls { get; init; }
}
