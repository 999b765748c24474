namespace Cairn.Cli.Clients;

/// <summary>The protocols for talking to a server.</summary>
internal enum ServerProtocol
{
    /// <summary>memcached's text protocol, with its classic commands.</summary>
    Memcached,

    /// <summary>memcached's text protocol, with its meta commands.</summary>
    Meta,

    /// <summary>RESP, the protocol of Redis.</summary>
    Resp,
}
