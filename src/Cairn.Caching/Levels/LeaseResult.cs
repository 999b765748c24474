namespace Cairn.Caching.Levels;

/// <summary>How the request for a lease ended: Hit, Done with a lease, Held, or Failed.</summary>
/// <param name="Status">How it ended.</param>
/// <param name="Lease">The lease, if it is Done.</param>
/// <param name="HasWaited">True if another had the lease meanwhile: there may be a value by now, also when it is Done.</param>
internal readonly record struct LeaseResult(LevelStatus Status, ILevelLease? Lease = null, bool HasWaited = false);
