using System.Runtime.InteropServices;

namespace Cairn.Caching.Local;

/// <summary>What the first level holds and has done.</summary>
/// <param name="Entries">Entries in it.</param>
/// <param name="Bytes">Their bytes, as the entries give them.</param>
/// <param name="Evictions">Entries that had to make room for others.</param>
/// <param name="TooLarge">Entries that were not kept, because each is larger than all that the level may hold.</param>
[StructLayout(LayoutKind.Auto)]
internal readonly record struct LocalCacheStatistics(long Entries, long Bytes, long Evictions, long TooLarge);
