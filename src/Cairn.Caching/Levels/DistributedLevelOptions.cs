using Cairn.Caching.Records;

namespace Cairn.Caching.Levels;

/// <summary>The options of an IDistributedCache as second level.</summary>
internal sealed record DistributedLevelOptions
{
    public static DistributedLevelOptions Default { get; } = new();

    /// <summary>The prefix of the keys, which separates caches that share a server. May be empty.</summary>
    public string Name { get; init; } = "";

    /// <summary>
    /// The longest wait for a read. Default 1 second: a hit should take a few milliseconds, and a factory is often faster than that.
    /// </summary>
    public TimeSpan ReadTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// The longest wait for a change, including its message to other machines. Default 1 second; a change that takes longer is made later.
    /// </summary>
    public TimeSpan WriteTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>The number of consecutive failures that open the circuit. Default 5.</summary>
    public int BreakAfterFailures { get; init; } = 5;

    /// <summary>How long the circuit stays open at first. Doubles with each failed probe. Default 5 seconds.</summary>
    public TimeSpan MinBreak { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>How long the circuit stays open at most. Default 60 seconds.</summary>
    public TimeSpan MaxBreak { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>The maximum number of pending writes; above it, the oldest becomes a removal of its key. Default 10,000.</summary>
    public int MaxPendingWrites { get; init; } = 10_000;

    /// <summary>The maximum size of the pending writes in bytes; above it, the oldest becomes a removal of its key. Default 64 MiB.</summary>
    public long MaxPendingBytes { get; init; } = 64L << 20;

    /// <summary>The maximum number of keys with a pending change; above it, one new era replaces all of them. Default 100,000.</summary>
    public int MaxPendingKeys { get; init; } = 100_000;

    /// <summary>How long an abandoned call is remembered, together with the change that it may overwrite. Default 1 minute.</summary>
    public TimeSpan RememberLateCalls { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>How long disposal tries to make the pending changes. Default 2 seconds.</summary>
    public TimeSpan FlushTimeout { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>How long a lease lasts on the server after its owner dies. It is renewed after a third of this time. Default 10 seconds.</summary>
    public TimeSpan LeaseDuration { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>How long stamps are kept after their last use. Default 30 days; at least the longest lifetime of an entry.</summary>
    public TimeSpan StampLifetime { get; init; } = TimeSpan.FromDays(30);

    /// <summary>The maximum age of the known era if no channel reports that another machine has cleared the cache. Default 1 second.</summary>
    public TimeSpan EraInterval { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>How long entries in memory count as current after the last heartbeat of the channel. 2 seconds.</summary>
    public TimeSpan TrustAfterHeartbeat { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>The interval in which at most one line of each kind is logged. Default 1 minute.</summary>
    public TimeSpan LogInterval { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>The longest key in UTF-8 bytes. Default 4,096.</summary>
    public int MaxKeyBytes { get; init; } = 4096;

    /// <summary>The longest envelope in bytes. Default the longest that an array can hold.</summary>
    public long MaxValueBytes { get; init; } = Array.MaxLength - DistributedRecords.EraBytes;

    /// <summary>
    /// True if the cache is known never to block and always to be fast: it is called on the caller's thread, without a time-out. This is
    /// known of Microsoft's MemoryDistributedCache.
    /// </summary>
    public bool IsInMemory { get; init; }

    /// <summary>The source of time. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider Clock { get; init; } = TimeProvider.System;

    /// <summary>The source of jitter, from 0 to 1; tests fix it.</summary>
    public Func<double> Jitter { get; init; } = Random.Shared.NextDouble;
}
