using Cairn.Keys;
using Cairn.Segments;

namespace Cairn.Engine;

/// <summary>A write of a transaction, and its progress.</summary>
internal sealed unsafe class TransactionWrite
{
    public required uint Collection { get; init; }

    public required byte[] Key { get; init; }

    public byte[] Value { get; init; } = [];

    public uint Flags { get; init; }

    public ResolvedExpiration Expiration { get; init; }

    public bool IsRemoval { get; init; }

    // Only the engine uses the following members. Each attempt sets them again.
    internal KeyPlacement Place { get; set; }

    internal long Bytes { get; set; }

    /// <summary>Gets or sets the number of segments of the entry's run; 0 if it needs no run.</summary>
    internal int RunLength { get; set; }

    /// <summary>Gets or sets the first segment of the run while the run is reserved and does not yet belong to the partition.</summary>
    internal int Segment { get; set; } = SegmentPool.None;

    internal uint ValueSum { get; set; }

    internal byte* Target { get; set; }

    internal ulong Version { get; set; }

    /// <summary>Gets or sets the bucket of the slot that names or will name the entry.</summary>
    internal Bucket* Bucket { get; set; }

    internal int SlotIndex { get; set; }

    internal KeyRef KeyAt(byte* key) => new(key, Key.Length, Collection, Place);
}

/// <summary>A condition on a key that must be met before a transaction is executed.</summary>
/// <param name="Collection">The number of the key's collection.</param>
/// <param name="Key">The key's bytes.</param>
/// <param name="Version">The required version of the entry; 0 if the key must not exist.</param>
internal sealed record TransactionRequirement(uint Collection, byte[] Key, ulong Version);

/// <summary>A recorded transaction: at most one write to each key.</summary>
internal sealed record TransactionPlan(IReadOnlyList<TransactionWrite> Writes, IReadOnlyList<TransactionRequirement> Requirements)
{
    /// <summary>Gets or sets the requirement because of which the plan was not executed; null if all were met.</summary>
    public TransactionRequirement? Unmet { get; set; }
}
