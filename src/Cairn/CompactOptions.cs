using Cairn.Messages;

namespace Cairn;

/// <summary>How large a compacted store is made. What is null is chosen from what the store holds.</summary>
public sealed record CompactOptions
{
    /// <summary>
    /// Size of the new file in bytes, 1 MiB to 1 TiB; it is made larger, up to <see cref="MaxCapacityBytes"/>, if what is kept needs it. Default
    /// null: as small as what is kept allows, which gives the most space back.
    /// </summary>
    public long? CapacityBytes { get; init; }

    /// <summary>
    /// Size in bytes that the new file may grow to, up to 1 TiB. If what is kept needs more, the entries of least use are evicted. Default
    /// null: as large as the store was allowed to be, or <see cref="CapacityBytes"/> if that is more, so that the limit somebody chose stays.
    /// </summary>
    public long? MaxCapacityBytes { get; init; }

    /// <summary>
    /// Expected size of an entry in bytes, 32 to 1,048,576, as in <see cref="StoreOptions.AverageEntryBytes"/>. Default null: the average of what
    /// the store holds, or, if that is too little to tell (fewer than 1,000 entries), what it was created with.
    /// </summary>
    public int? AverageEntryBytes { get; init; }

    /// <summary>Source of time, to tell expired entries from others. Default <see cref="TimeProvider.System"/>.</summary>
    public TimeProvider Clock { get; init; } = TimeProvider.System;

    internal void Validate()
    {
        ThrowIfOutside(CapacityBytes, StoreOptions.SmallestCapacityBytes, StoreOptions.LargestCapacityBytes, nameof(CapacityBytes));
        ThrowIfOutside(
            MaxCapacityBytes, CapacityBytes ?? StoreOptions.SmallestCapacityBytes, StoreOptions.LargestCapacityBytes, nameof(MaxCapacityBytes));
        ThrowIfOutside(AverageEntryBytes, StoreOptions.MinAverageEntryBytes, StoreOptions.MaxAverageEntryBytes, nameof(AverageEntryBytes));
        ArgumentNullException.ThrowIfNull(Clock);
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
