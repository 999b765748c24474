using Cairn.Server.Metrics;
using Cairn.Server.Notifications;
using Cairn.Server.Pinning;

namespace Cairn.Server.Memcached;

/// <summary>The options of memcached's protocol.</summary>
internal sealed record MemcachedOptions
{
    /// <summary>Gets the maximum size of an item as memcached counts it: key, value and some 60 bytes; 1 KiB to 64 MiB. Default 1 MiB, as
    /// in memcached. A store may allow less.</summary>
    public int MaxItemBytes { get; init; } = 1 << 20;

    /// <summary>Gets the maximum length of the line of a <c>get</c>, in bytes. Default 1 MiB.</summary>
    public int MaxMultigetBytes { get; init; } = 1 << 20;

    /// <summary>Gets the action that a client's <c>shutdown</c> calls. Its argument is whether the stop is graceful. Null, the default,
    /// if clients may not stop the server.</summary>
    public Action<bool>? Shutdown { get; init; }

    /// <summary>Gets whether clients may remove all entries. Default true.</summary>
    public bool AllowFlush { get; init; } = true;

    /// <summary>Gets whether clients may list the keys. Default true.</summary>
    public bool AllowDump { get; init; } = true;

    /// <summary>Gets whether clients may watch the requests of others. Default true.</summary>
    public bool AllowWatch { get; init; } = true;

    /// <summary>Gets the number of bytes of log lines that may wait for a client of <c>watch</c>. Default 256 KiB.</summary>
    public int WatcherBytes { get; init; } = 256 << 10;

    /// <summary>Gets whether clients see the versions of entries. Default true.</summary>
    public bool TellsVersions { get; init; } = true;

    /// <summary>Gets the version that clients see.</summary>
    public string Version { get; init; } = new ServerOptions().MemcachedVersion;

    /// <summary>Gets the end of the prefixes that <c>stats detail</c> counts; null for a colon, once a client has switched it on.</summary>
    public char? PrefixDelimiter { get; init; }

    /// <summary>Gets the file of the users, for <c>stats settings</c>; null for none.</summary>
    public string? UsersPath { get; init; }

    /// <summary>Gets the permissions of Unix sockets, for <c>stats settings</c>.</summary>
    public UnixFileMode UnixMode { get; init; } = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Gets the users that may connect; null, the default, for no authentication.</summary>
    public MemcachedCredentials? Credentials { get; init; }

    /// <summary>Gets the protocols that clients may speak. Default: text and binary.</summary>
    public MemcachedWireFormat WireFormat { get; init; }

    /// <summary>Gets the source of time.</summary>
    public TimeProvider Clock { get; init; } = TimeProvider.System;

    /// <summary>Gets the metrics that count requests.</summary>
    public ServerMetrics Metrics { get; init; } = new();

    /// <summary>Gets the receiver of the changes of keys. Default: none.</summary>
    public KeyspaceEvents Events { get; init; } = KeyspaceEvents.Off;

    /// <summary>Gets the keys whose entries are kept. Default: none.</summary>
    public PinnedKeys Pinned { get; init; } = PinnedKeys.None;

    /// <summary>Gets the information about the server that <c>stats</c> reports.</summary>
    public MemcachedServerInfo Server { get; init; } = new();
}
