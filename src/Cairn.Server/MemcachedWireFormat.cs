namespace Cairn.Server;

/// <summary>The protocols that clients of memcached may speak.</summary>
public enum MemcachedWireFormat
{
    /// <summary>The text and the binary protocol. The first byte of a connection distinguishes them.</summary>
    Auto = 0,

    /// <summary>The text protocol, with the meta commands.</summary>
    Text,

    /// <summary>The binary protocol.</summary>
    Binary,
}
