namespace Cairn.Caching.Levels;

/// <summary>The result of a request for a lease: Hit, Done with a lease, Held, or Failed.</summary>
/// <param name="Status">The outcome.</param>
/// <param name="Lease">The lease, if the status is Done.</param>
/// <param name="HasWaited">True if another caller had the lease meanwhile: there may be a value by now, even if the status is Done.</param>
internal readonly record struct LeaseResult(LevelStatus Status, ILevelLease? Lease = null, bool HasWaited = false);
