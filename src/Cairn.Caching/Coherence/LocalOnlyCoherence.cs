namespace Cairn.Caching.Coherence;

/// <summary>Coherence of a cache without a second level: only the cache's own changes are reported.</summary>
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

    /// <summary>Reports a change of a key or a tag by the cache.</summary>
    public void OnChanged(ulong hash) => _changes.Change(hash);

    /// <summary>Reports that the cache was cleared.</summary>
    public void OnAllChanged() => _changes.ChangeAll();
}
