namespace Cairn;

/// <summary>How long the values of a store are.</summary>
/// <param name="Bins">One for each power of two that occurs, smallest first.</param>
/// <param name="Entries">Entries in all.</param>
/// <param name="ValueBytes">Bytes of all values.</param>
public sealed record SizeHistogram(IReadOnlyList<SizeBin> Bins, long Entries, long ValueBytes);
