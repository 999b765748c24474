namespace Cairn;

/// <summary>What <see cref="CairnStore.Backup"/> wrote.</summary>
public sealed record BackupReport
{
    /// <summary>The backup's file.</summary>
    public required string Path { get; init; }

    /// <summary>Entries that were copied, in all collections.</summary>
    public long Entries { get; init; }

    /// <summary>Writes that were made meanwhile to collections with a log, and are in the backup, too.</summary>
    public long Changes { get; init; }

    /// <summary>Length of the backup in bytes.</summary>
    public long Bytes { get; init; }

    /// <summary>How long it took.</summary>
    public TimeSpan Duration { get; init; }
}
