namespace Cairn.Caching.Coherence;

/// <summary>A position among the changes of one partition, or stripe, of keys.</summary>
internal readonly record struct ChangeMark(ulong Position, uint Overrun);
