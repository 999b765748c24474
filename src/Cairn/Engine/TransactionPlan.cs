using Cairn.Keys;
using Cairn.Segments;
using Cairn.Storage;

namespace Cairn.Engine;

/// <summary>A write that a transaction will do, and how far it has come.</summary>
internal sealed unsafe class TransactionWrite
{
    public required uint Collection { get; init; }

    public required byte[] Key { get; init; }

    public byte[] Value { get; init; } = [];

    public uint Flags { get; init; }

    public ResolvedExpiration Expiration { get; init; }

    public bool IsRemoval { get; init; }

    // What follows is the engine's, anew with each attempt.
    internal KeyPlacement Place { get; set; }

    internal long Bytes { get; set; }

    /// <summary>Segments of a run, if the entry needs one; else 0.</summary>
    internal int RunLength { get; set; }

    /// <summary>The first of them while they are reserved, and not yet the partition's.</summary>
    internal int Segment { get; set; } = SegmentPool.None;

    internal uint ValueSum { get; set; }

    internal byte* Target { get; set; }

    internal ulong Version { get; set; }

    /// <summary>Where the slot is or will be that names the entry.</summary>
    internal Bucket* Bucket { get; set; }

    internal int SlotIndex { get; set; }

    internal KeyRef KeyAt(byte* key) => new(key, Key.Length, Collection, Place);
}

/// <summary>What must be true of a key for a transaction to be done.</summary>
/// <param name="Collection">The number of its collection.</param>
/// <param name="Key">Its bytes.</param>
/// <param name="Version">Its version; 0 if it must not be there.</param>
internal sealed record TransactionRequirement(uint Collection, byte[] Key, ulong Version);

/// <summary>A transaction as it was written down: at most one write to each key.</summary>
internal sealed record TransactionPlan(IReadOnlyList<TransactionWrite> Writes, IReadOnlyList<TransactionRequirement> Requirements);
