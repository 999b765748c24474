namespace Cairn;

/// <summary>A histogram of the lengths of a store's values.</summary>
/// <param name="Bins">One bin for each power of two that occurs, smallest first.</param>
/// <param name="Entries">The number of all entries.</param>
/// <param name="ValueBytes">The size of all values in bytes.</param>
public sealed record SizeHistogram(IReadOnlyList<SizeBin> Bins, long Entries, long ValueBytes);
