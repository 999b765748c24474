using Cairn.Caching.Coherence;
using Cairn.Caching.Levels;
using Cairn.Caching.Policies;

namespace Cairn.Caching.Operations;

/// <summary>The terms on which a flight's value is kept.</summary>
/// <param name="Policy">The times and levels of the entry.</param>
/// <param name="Mark">The mark after which the key must not have been changed.</param>
/// <param name="Lease">The lease with which the second level is written; null for none.</param>
internal readonly record struct KeepTerms(EntryPolicy Policy, ChangeMark Mark, ILevelLease? Lease);
