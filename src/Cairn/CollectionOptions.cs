namespace Cairn;

/// <summary>
/// The options of a collection. They are stored when the collection is created, and changed when it is opened with other options.
/// </summary>
public sealed record CollectionOptions
{
    /// <summary>
    /// The expiration of entries that are written without one: <see cref="Expiration.After"/>, <see cref="Expiration.Sliding"/> without a limit, or none.
    /// Default none.
    /// </summary>
    public Expiration DefaultExpiration { get; init; } = Expiration.None;

    /// <summary>
    /// The maximum size of the collection's entries in bytes; 0 for no budget. Default 0. If entries are evicted, the budget is soft: a collection above it
    /// loses its entries first, but it can be larger while the store has room. If entries are kept, the budget is hard: a write above it fails.
    /// </summary>
    public long BudgetBytes { get; init; }

    /// <summary>Whether entries can be evicted. Default <see cref="StoreRegion.Evict"/>. It cannot be changed after the collection is created.</summary>
    public StoreRegion Region { get; init; }

    /// <summary>
    /// The failures that a write survives once it has returned. Default <see cref="Durability.Default"/>: for kept entries
    /// <see cref="Durability.GroupCommit"/>. Entries that can be evicted allow only <see cref="Durability.ProcessCrash"/>.
    /// </summary>
    public Durability Durability { get; init; }

    /// <summary>Gets <see cref="Durability"/>, with <see cref="Durability.Default"/> replaced by the durability that it stands for.</summary>
    internal Durability ResolvedDurability => Durability != Durability.Default ? Durability
        : Region == StoreRegion.Keep ? Durability.GroupCommit : Durability.ProcessCrash;

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfNegative(BudgetBytes);
        if (Region is < StoreRegion.Evict or > StoreRegion.Keep)
        {
            throw new ArgumentOutOfRangeException(nameof(Region), Region, $"{nameof(CollectionOptions)}.{nameof(Region)} is not one of its values.");
        }

        if (Durability is < Durability.Default or > Durability.BackgroundCommit)
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
