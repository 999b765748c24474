namespace Cairn.Caching.Coherence;

/// <summary>Where nobody else has a first level over the same values: only the cache's own changes are heard of.</summary>
internal sealed class LocalOnlyCoherence : ICoherence
{
    private readonly ChangeStripes _changes = new();

    public bool SeesAllChanges => true;

    public void Attach(IChangeSink sink) => _changes.Attach(sink);

    public bool TryCatchUp(ulong hash) => true;

    public long AllowedAgeMs => 0;

    public ChangeMark Mark(ulong hash) => _changes.Mark(hash);

    public ChangeMark[] MarkAll() => _changes.MarkAll();

    public bool IsUnchanged(in ChangeMark mark, ulong hash) => _changes.IsUnchanged(mark, hash);

    public bool IsUnchanged(ChangeMark[] marks, ulong hash) => _changes.IsUnchanged(marks, hash);

    public bool TryKeep<TState>(in ChangeMark mark, ulong hash, int ownChanges, TState state, Func<TState, bool> keep) =>
        _changes.TryKeep(mark, hash, ownChanges, state, keep);

    /// <summary>The cache changed a key or a tag.</summary>
    public void OnChanged(ulong hash) => _changes.Change(hash);

    /// <summary>The cache dropped everything.</summary>
    public void OnAllChanged() => _changes.ChangeAll();
}
