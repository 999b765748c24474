using Cairn.Protocol;

namespace Cairn.Redis.Memcached;

/// <summary>Writes requests.</summary>
/// <param name="writer">The writer.</param>
internal delegate void RequestWriter(ref MemcachedRequestWriter writer);
