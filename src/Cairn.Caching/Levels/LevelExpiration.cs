namespace Cairn.Caching.Levels;

/// <summary>How long an entry stays in the second level: until a moment, and if it slides, that long after its last use.</summary>
/// <param name="Deadline">Unix milliseconds, the end of its usefulness with fail-safe included; <see cref="long.MaxValue"/> for none.</param>
/// <param name="SlidingMs">Milliseconds; 0 if it does not slide.</param>
internal readonly record struct LevelExpiration(long Deadline, long SlidingMs);
