namespace Cairn;

/// <summary>The content of a backup.</summary>
public sealed record BackupOptions
{
    /// <summary>
    /// True if the backup has only collections whose entries are kept (<see cref="StoreRegion.Keep"/>). Default false: the backup has all collections, so
    /// that a restored store starts with a warm cache.
    /// </summary>
    public bool OnlyKept { get; init; }
}
