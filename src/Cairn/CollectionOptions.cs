namespace Cairn;

/// <summary>What is remembered with a collection when it is created, and changed when it is opened with other options.</summary>
public sealed record CollectionOptions
{
    /// <summary>
    /// How entries expire that are written without an expiration of their own: <see cref="Expiration.After"/>,
    /// <see cref="Expiration.Sliding"/> without a limit, or none. Default none.
    /// </summary>
    public Expiration DefaultExpiration { get; init; } = Expiration.None;

    /// <summary>
    /// Bytes that the collection's entries may take; 0 for no budget. Default 0. Where entries are evicted it is soft: beyond it, they are the
    /// first to go, but while the store has room, the collection may be larger. Where they are kept it is hard: a write beyond it fails.
    /// </summary>
    public long BudgetBytes { get; init; }

    /// <summary>Whether entries may be evicted. Default <see cref="StoreRegion.Evict"/>. Stays what it was when the collection was created.</summary>
    public StoreRegion Region { get; init; }

    /// <summary>
    /// What a write has survived once it returns. Default <see cref="Durability.Default"/>: for kept entries <see cref="Durability.GroupCommit"/>. Entries that
    /// may be evicted have only <see cref="Durability.ProcessCrash"/>.
    /// </summary>
    public Durability Durability { get; init; }

    /// <summary><see cref="Durability"/> with the default resolved.</summary>
    internal Durability ResolvedDurability => Durability != Durability.Default ? Durability
        : Region == StoreRegion.Keep ? Durability.GroupCommit : Durability.ProcessCrash;

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfNegative(BudgetBytes);
        if (Region is < StoreRegion.Evict or > StoreRegion.Keep)
        {
            throw new ArgumentOutOfRangeException(nameof(Region), Region, $"{nameof(CollectionOptions)}.{nameof(Region)} is not one of its values.");
        }

        if (Durability is < Durability.Default or > Durability.EveryOperation)
        {
            throw new ArgumentOutOfRangeException(
                nameof(Durability), Durability, $"{nameof(CollectionOptions)}.{nameof(Durability)} is not one of its values.");
        }

        if (Region == StoreRegion.Evict && ResolvedDurability != Durability.ProcessCrash)
        {
            throw new ArgumentException(
                $"{nameof(CollectionOptions)}.{nameof(Durability)} can be {Durability} only where entries are kept: set " +
                $"{nameof(Region)} to {nameof(StoreRegion.Keep)}, or leave the durability at its default.",
                nameof(Durability));
        }

        bool isRemembered = DefaultExpiration.Kind
            is Expiration.ExpirationKind.Default or Expiration.ExpirationKind.None or Expiration.ExpirationKind.Relative
            || (DefaultExpiration.Kind == Expiration.ExpirationKind.Sliding && DefaultExpiration.LimitUnixMs == long.MaxValue);
        if (!isRemembered)
        {
            throw new ArgumentException(
                $"{nameof(CollectionOptions)}.{nameof(DefaultExpiration)} must count from the write or from the last use; a moment cannot be a default.",
                nameof(DefaultExpiration));
        }
    }
}
