using Cairn.Server.Connections;

namespace Cairn.Server.Memcached;

/// <summary>What the sessions know of the server they are part of, to tell it in statistics.</summary>
internal sealed class MemcachedSurroundings
{
    /// <summary>The engine that serves them; null in tests.</summary>
    public ServerEngine? Engine { get; set; }

    public int Port { get; init; }

    public string Address { get; init; } = "";

    public string UnixPath { get; init; } = "";

    public int Workers { get; init; } = Environment.ProcessorCount;
}
