namespace Cairn.Caching.Levels;

/// <summary>How the request for a lease ended: Hit, Done with a lease, Held, or Failed.</summary>
internal readonly record struct LeaseResult(LevelStatus Status, ILevelLease? Lease = null);
