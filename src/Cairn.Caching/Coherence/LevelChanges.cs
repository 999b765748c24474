namespace Cairn.Caching.Coherence;

/// <summary>The changes that a second level reports. Without a second level there are none, and nothing is called.</summary>
internal readonly struct LevelChanges(ICoherence coherence, bool hasLevel)
{
    private readonly ICoherence? _coherence = hasLevel ? coherence : null;

    /// <summary>The coherence of a second level that is a store; otherwise null.</summary>
    public StoreCoherence? Store { get; } = coherence as StoreCoherence;

    /// <summary>The coherence of a second level that is a distributed cache; otherwise null.</summary>
    public ChannelCoherence? Channel { get; } = coherence as ChannelCoherence;

    /// <summary>Calls <see cref="ICoherence.TryCatchUp"/>.</summary>
    // For a store, the check reads a few words. It is inlined here because a call through the interface would cost more.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryCatchUp(ulong hash) => Store is { } store ? store.TryCatchUp(hash) : _coherence is null || _coherence.TryCatchUp(hash);

    /// <summary>Calls <see cref="ICoherence.Mark"/>. Without a second level, the mark has no meaning.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ChangeMark Mark(ulong hash) => _coherence is null ? default : _coherence.Mark(hash);
}
