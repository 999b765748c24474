using Microsoft.Extensions.Logging;

namespace Cairn.FileStore.Engine;

/// <summary>The validated settings of one file.</summary>
internal sealed record FileEngineOptions
{
    public const int DefaultMaxBytes = 10_000_000;
    public const int DefaultTries = 20;
    public const int DefaultDelayMs = 5;

    public static readonly TimeSpan DefaultPollInterval = TimeSpan.FromMilliseconds(250);
    public static readonly TimeSpan DefaultLockTimeout = TimeSpan.FromSeconds(30);

    public required string Path { get; init; }

    /// <summary>Gets the type that an <see cref="ObjectDisposedException"/> of the engine names.</summary>
    public Type Owner { get; init; } = typeof(FileEngine);

    public long MaxBytes { get; init; } = DefaultMaxBytes;

    public FileStoreDurability Durability { get; init; }

    public TimeSpan PollInterval { get; init; } = DefaultPollInterval;

    public TimeSpan LockTimeout { get; init; } = DefaultLockTimeout;

    public int Tries { get; init; } = DefaultTries;

    public TimeSpan Delay { get; init; } = TimeSpan.FromMilliseconds(DefaultDelayMs);

    public TimeProvider Clock { get; init; } = TimeProvider.System;

    /// <summary>Gets the log of failed callbacks; null for none.</summary>
    public ILogger? Log { get; init; }

    /// <summary>Gets whether the engine polls the file and never maps the side file, as on a network file system.</summary>
    public bool IsPolledOnly { get; init; }
}
