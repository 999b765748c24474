namespace Cairn.Caching.Levels;

/// <summary>How an IDistributedCache is used as second level.</summary>
internal sealed record DistributedLevelOptions
{
    public static DistributedLevelOptions Default { get; } = new();

    /// <summary>Begins the keys, so that caches that share a server keep apart. May be empty.</summary>
    public string Name { get; init; } = "";

    /// <summary>Longest wait for a read. Default 1 second: a hit should take a few milliseconds, and a factory can often answer in less than that.</summary>
    public TimeSpan ReadTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Longest wait for a change, its message to other machines included. Default 1 second; what takes longer is done later.</summary>
    public TimeSpan WriteTimeout { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Failures one after the other that open the circuit. Default 5.</summary>
    public int BreakAfterFailures { get; init; } = 5;

    /// <summary>How long the circuit stays open at first. Doubles with each probe that fails. Default 5 seconds.</summary>
    public TimeSpan FirstBreak { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>How long the circuit stays open at most. Default 60 seconds.</summary>
    public TimeSpan LongestBreak { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Writes that wait to be done later; above it, the oldest becomes a removal of its key. Default 10,000.</summary>
    public int MaxPendingWrites { get; init; } = 10_000;

    /// <summary>Bytes of writes that wait to be done later; above it, the oldest becomes a removal of its key. Default 64 MiB.</summary>
    public long MaxPendingBytes { get; init; } = 64L << 20;

    /// <summary>Keys with a change that waits to be done later; above it, all become one change that drops everything. Default 100,000.</summary>
    public int MaxPendingKeys { get; init; } = 100_000;

    /// <summary>How long a call that was given up is remembered with what it may overwrite. Default 1 minute.</summary>
    public TimeSpan RememberLateCalls { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>How long disposal tries to do what waits. Default 2 seconds.</summary>
    public TimeSpan FlushTimeout { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>How long a lease lasts on the server when its owner dies. It is renewed at a third of it. Default 10 seconds.</summary>
    public TimeSpan LeaseDuration { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Stamps are kept that long after their last use. Default 30 days; at least the longest life of an entry.</summary>
    public TimeSpan StampLifetime { get; init; } = TimeSpan.FromDays(30);

    /// <summary>How old the knowledge may be of which entries were cleared by others, when no channel tells. Default 1 second.</summary>
    public TimeSpan EraInterval { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>How long what is held in memory is trusted after the last heartbeat of the channel. 2 seconds.</summary>
    public TimeSpan TrustAfterHeartbeat { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>One line of log of each kind in that time. Default 1 minute.</summary>
    public TimeSpan LogInterval { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>Longest key in UTF-8 bytes. Default 4,096.</summary>
    public int MaxKeyBytes { get; init; } = 4096;

    /// <summary>Longest envelope in bytes. Default what an array can hold.</summary>
    public long MaxValueBytes { get; init; } = Array.MaxLength - DistributedRecords.EraBytes;

    /// <summary>True if the cache is known never to block and never to take long: it is called on the caller's thread, without a
    /// time-out. Microsoft's MemoryDistributedCache is known to be so.</summary>
    public bool IsInMemory { get; init; }

    /// <summary>Source of time. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider Clock { get; init; } = TimeProvider.System;

    /// <summary>Source of jitter; tests fix it. Between 0 and 1.</summary>
    public Func<double> Jitter { get; init; } = Random.Shared.NextDouble;
}
