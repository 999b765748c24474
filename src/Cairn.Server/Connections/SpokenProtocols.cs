namespace Cairn.Server.Connections;

/// <summary>The protocols that a listener speaks.</summary>
[Flags]
internal enum SpokenProtocols
{
    /// <summary>Not known. Clients of such a listener are never reported as foreign.</summary>
    Unknown = 0,
    Memcached = 1,
    Resp = 2,
    MemcachedBinary = 4,
}
