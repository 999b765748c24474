using Cairn.Server.Metrics;
using Cairn.Server.Notifications;

namespace Cairn.Server.Memcached;

/// <summary>How memcached's protocol is served.</summary>
internal sealed record MemcachedOptions
{
    /// <summary>The largest item as memcached counts it: key, value and some 60 bytes; 1 KiB to 64 MiB. Default 1 MiB, memcached's. A
    /// store may allow less.</summary>
    public int MaxItemBytes { get; init; } = 1 << 20;

    /// <summary>Longest line of a <c>get</c>, in bytes. Default 1 MiB.</summary>
    public int MaxMultigetBytes { get; init; } = 1 << 20;

    /// <summary>Called when a client says <c>shutdown</c>, with whether gracefully; null, the default, if clients may not.</summary>
    public Action<bool>? Shutdown { get; init; }

    /// <summary>Whether clients may empty the store. Default true.</summary>
    public bool AllowFlush { get; init; } = true;

    /// <summary>Whether clients may list the keys. Default true.</summary>
    public bool AllowDump { get; init; } = true;

    /// <summary>Who may use the server; null, the default, for anybody.</summary>
    public MemcachedCredentials? Credentials { get; init; }

    /// <summary>Source of time.</summary>
    public TimeProvider Clock { get; init; } = TimeProvider.System;

    /// <summary>Where requests are counted.</summary>
    public ServerMetrics Metrics { get; init; } = new();

    /// <summary>Where changes of keys are reported. Default: nowhere.</summary>
    public KeyspaceEvents Events { get; init; } = KeyspaceEvents.Off;

    /// <summary>What <c>stats</c> tells of the server around the sessions.</summary>
    public MemcachedSurroundings Surroundings { get; init; } = new();
}
