using Cairn.Protocol;

namespace Cairn.Memcached.Servers;

/// <summary>Writes requests.</summary>
/// <param name="writer">The writer.</param>
internal delegate void RequestWriter(ref MemcachedRequestWriter writer);
