namespace Cairn.Redis.Entries;

/// <summary>When an entry that is written expires.</summary>
/// <param name="AbsoluteTicks">As in <see cref="EntryHead"/>.</param>
/// <param name="SlidingTicks">Likewise.</param>
/// <param name="LifeMs">Until the server drops it, unless it is used; null if never.</param>
internal sealed record EntryTimes(long AbsoluteTicks, long SlidingTicks, long? LifeMs);
