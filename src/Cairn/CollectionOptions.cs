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
    /// Bytes that the collection's entries may take before they are the first to be evicted; 0 for no budget. Default 0. A soft limit: while
    /// the store has room, a collection may be larger.
    /// </summary>
    public long BudgetBytes { get; init; }

    internal void Validate()
    {
        ArgumentOutOfRangeException.ThrowIfNegative(BudgetBytes);
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
