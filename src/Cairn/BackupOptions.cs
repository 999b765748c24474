namespace Cairn;

/// <summary>What a backup has in it.</summary>
public sealed record BackupOptions
{
    /// <summary>
    /// Whether only collections whose entries are kept (<see cref="StoreRegion.Keep"/>) are in the backup. Default false: all are, and whoever
    /// restores it begins with a warm cache.
    /// </summary>
    public bool OnlyKept { get; init; }
}
