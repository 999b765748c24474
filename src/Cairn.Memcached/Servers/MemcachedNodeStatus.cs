using Cairn.Clients.Nodes;

namespace Cairn.Memcached.Servers;

/// <summary>The properties that a memcached server reports when a connection is established.</summary>
/// <param name="HasMeta">Whether the server has meta commands.</param>
internal sealed record MemcachedNodeStatus(bool HasMeta) : NodeStatus("memcached's protocol", IsSecondChoice: false);
