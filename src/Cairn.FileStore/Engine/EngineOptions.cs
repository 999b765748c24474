namespace Cairn.FileStore.Engine;

/// <summary>How one file is used; checked already.</summary>
internal sealed record EngineOptions
{
    public required string Path { get; init; }

    public long MaxBytes { get; init; } = DistributedFileStoreCacheOptions.DefaultMaxBytes;

    public FileStoreDurability Durability { get; init; }

    public TimeSpan PollInterval { get; init; } = DistributedFileStoreCacheOptions.DefaultPollInterval;

    public TimeSpan LockTimeout { get; init; } = DistributedFileStoreCacheOptions.DefaultLockTimeout;

    public int Tries { get; init; } = DistributedFileStoreCacheOptions.DefaultTries;

    public TimeSpan Delay { get; init; } = TimeSpan.FromMilliseconds(DistributedFileStoreCacheOptions.DefaultDelayMs);

    public TimeProvider Clock { get; init; } = TimeProvider.System;

    /// <summary>Never maps the side file, as on a network file system.</summary>
    public bool IsPolledOnly { get; init; }
}
