using Cairn.Messages;

namespace Cairn;

/// <summary>The size of a compacted store. If a property is null, the compaction chooses the value from the content of the store.</summary>
public sealed record CompactOptions
{
    /// <summary>
    /// The size of the new file in bytes, 1 MiB to 1 TiB. If the kept entries need more, the file becomes larger, up to <see cref="MaxCapacityBytes"/>.
    /// Default null: as small as the kept entries allow, which frees the most space.
    /// </summary>
    public long? CapacityBytes { get; init; }

    /// <summary>
    /// The size in bytes to which the new file can grow, up to 1 TiB. If the kept entries need more, the entries that are used least are evicted. Default
    /// null: the old store's limit, or <see cref="CapacityBytes"/> if that is more.
    /// </summary>
    public long? MaxCapacityBytes { get; init; }

    /// <summary>
    /// The expected size of an entry in bytes, 32 to 1,048,576, as in <see cref="StoreOptions.AverageEntryBytes"/>. Default null: the average of the
    /// store's entries. If the store has fewer than 1,000 entries, the value with which it was created.
    /// </summary>
    public int? AverageEntryBytes { get; init; }

    /// <summary>The source of time, by which expired entries are recognized. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;

    internal void Validate()
    {
        ThrowIfOutside(CapacityBytes, StoreLimits.MinCapacityBytes, StoreLimits.MaxCapacityBytes, nameof(CapacityBytes));
        ThrowIfOutside(
            MaxCapacityBytes, CapacityBytes ?? StoreLimits.MinCapacityBytes, StoreLimits.MaxCapacityBytes, nameof(MaxCapacityBytes));
        ThrowIfOutside(AverageEntryBytes, StoreLimits.MinAverageEntryBytes, StoreLimits.MaxAverageEntryBytes, nameof(AverageEntryBytes));
        ArgumentNullException.ThrowIfNull(TimeProvider);
    }

    private static void ThrowIfOutside(long? value, long least, long most, string name)
    {
        if (value < least || value > most)
        {
            throw new ArgumentOutOfRangeException(
                name, value, $"{nameof(CompactOptions)}.{name} must be {ByteText.Of(least)} to {ByteText.Of(most)}, or left out, not {ByteText.Of(value.Value)}.");
        }
    }
}
