namespace Cairn;

/// <summary>The result of <see cref="CairnStore.Backup"/>.</summary>
public sealed record BackupReport
{
    /// <summary>The backup's file.</summary>
    public required string Path { get; init; }

    /// <summary>The number of entries that were copied, in all collections.</summary>
    public long Entries { get; init; }

    /// <summary>The number of writes to logged collections that happened during the backup. The backup contains them too.</summary>
    public long Changes { get; init; }

    /// <summary>Length of the backup in bytes.</summary>
    public long Bytes { get; init; }

    /// <summary>The duration of the backup.</summary>
    public TimeSpan Duration { get; init; }
}
