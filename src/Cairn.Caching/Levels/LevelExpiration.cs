namespace Cairn.Caching.Levels;

/// <summary>The lifetime of an entry in the second level: until a moment, and with a sliding expiration for a time after its last use.</summary>
/// <param name="Deadline">The end of the entry in Unix milliseconds, including fail-safe; <see cref="long.MaxValue"/> for none.</param>
/// <param name="SlidingMs">The sliding expiration in milliseconds; 0 for none.</param>
internal readonly record struct LevelExpiration(long Deadline, long SlidingMs);
