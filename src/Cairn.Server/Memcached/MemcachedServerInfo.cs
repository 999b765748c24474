using Cairn.Server.Connections;

namespace Cairn.Server.Memcached;

/// <summary>Information about the server, which the sessions report in statistics.</summary>
internal sealed class MemcachedServerInfo
{
    /// <summary>Gets or sets the engine that serves the sessions; null in tests.</summary>
    public ServerEngine? Engine { get; set; }

    public int Workers { get; init; } = Environment.ProcessorCount;
}
