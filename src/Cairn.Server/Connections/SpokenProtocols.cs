namespace Cairn.Server.Connections;

/// <summary>What a listener understands.</summary>
[Flags]
internal enum SpokenProtocols
{
    /// <summary>Not known: no client of such a listener is ever called foreign.</summary>
    Unknown = 0,
    Memcached = 1,
    Resp = 2,
}
