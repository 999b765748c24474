namespace Cairn;

/// <summary>The limits of <see cref="StoreOptions"/>, and the longest value. They are the same for all stores.</summary>
public static class StoreLimits
{
    /// <summary>The minimum of <see cref="StoreOptions.CapacityBytes"/>: 1 MiB.</summary>
    public const long MinCapacityBytes = 1L << 20;

    /// <summary>The maximum of <see cref="StoreOptions.CapacityBytes"/> and <see cref="StoreOptions.MaxCapacityBytes"/>: 1 TiB.</summary>
    public const long MaxCapacityBytes = 1L << 40;

    /// <summary>The longest value in any store: 64 MiB. The limit of a store is an eighth of its capacity, if that is less.</summary>
    public const int MaxValueBytes = 64 << 20;

    /// <summary>The minimum of <see cref="StoreOptions.AverageEntryBytes"/>: 32.</summary>
    public const int MinAverageEntryBytes = 32;

    /// <summary>The maximum of <see cref="StoreOptions.AverageEntryBytes"/>: 1,048,576.</summary>
    public const int MaxAverageEntryBytes = 1 << 20;

    /// <summary>The minimum of <see cref="StoreOptions.LogFileBytes"/>: 64 KiB.</summary>
    public const long MinLogFileBytes = 64L << 10;

    /// <summary>The maximum of <see cref="StoreOptions.LogFileBytes"/>: 1 GiB.</summary>
    public const long MaxLogFileBytes = 1L << 30;

    /// <summary>The maximum of <see cref="StoreOptions.CommitDelay"/>: 100 milliseconds.</summary>
    public static readonly TimeSpan MaxCommitDelay = TimeSpan.FromMilliseconds(100);

    /// <summary>The maximum of <see cref="StoreOptions.ExpiredRetention"/>: 24 days.</summary>
    public static readonly TimeSpan MaxExpiredRetention = TimeSpan.FromDays(24);
}
