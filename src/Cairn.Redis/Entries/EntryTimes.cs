namespace Cairn.Redis.Entries;

/// <summary>The expiration of an entry that is being written.</summary>
/// <param name="AbsoluteTicks">The latest time of expiration, as in <see cref="EntryHead"/>.</param>
/// <param name="SlidingTicks">The lifetime after each use, as in <see cref="EntryHead"/>.</param>
/// <param name="LifeMs">The time in milliseconds after which the server removes the entry unless it is used; null for never.</param>
internal sealed record EntryTimes(long AbsoluteTicks, long SlidingTicks, long? LifeMs);
