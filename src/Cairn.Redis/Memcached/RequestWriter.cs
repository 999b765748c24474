using Cairn.Protocol;

namespace Cairn.Redis.Memcached;

/// <summary>Writes a request.</summary>
/// <param name="writer">Where to.</param>
internal delegate void RequestWriter(ref MemcachedRequestWriter writer);
