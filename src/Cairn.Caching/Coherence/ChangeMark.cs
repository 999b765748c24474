namespace Cairn.Caching.Coherence;

/// <summary>A position in the sequence of changes of one partition or stripe of keys.</summary>
internal readonly record struct ChangeMark(ulong Position, uint Overrun);
