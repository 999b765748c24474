namespace Cairn.Caching.Local;

/// <summary>The contents and the counts of the first level.</summary>
/// <param name="Entries">The number of entries.</param>
/// <param name="Bytes">The total bytes that the entries declare.</param>
/// <param name="Evictions">The number of entries that were evicted.</param>
/// <param name="TooLarge">The number of entries that were not kept because each is larger than the whole level.</param>
[StructLayout(LayoutKind.Auto)]
internal readonly record struct LocalCacheStatistics(long Entries, long Bytes, long Evictions, long TooLarge);
