namespace Cairn.Caching.Coherence;

// Coherence of first levels over an IDistributedCache. A ChannelHub delivers changes when they happen, so catching up only checks whether the
// channel is live. The cache's own changes are delivered too, and count in TryKeep; SecondLevel.ChangesOf defines how. Without a channel,
// changes on other machines are not delivered: they become visible when the first level's entries expire.
internal sealed class ChannelCoherence(ChannelHub hub) : ICoherence
{
    private readonly ChangeStripes _changes = new();

    public bool SeesAllChanges => hub.SeesAllChanges;

    public void Attach(IChangeSink sink) => _changes.Attach(sink);

    public bool TryCatchUp(ulong hash) => hub.IsTrusted;

    public long AllowedAgeMs => hub.AllowedAgeMs;

    public ChangeMark Mark(ulong hash) => _changes.Mark(hash);

    public ChangeMark[] MarkAll() => _changes.MarkAll();

    public bool IsUnchanged(in ChangeMark mark, ulong hash) => _changes.IsUnchanged(mark, hash);

    public bool IsUnchanged(ChangeMark[] marks, ulong hash) => _changes.IsUnchanged(marks, hash);

    public bool TryKeep<TState>(in ChangeMark mark, ulong hash, int ownChanges, TState state, Func<TState, bool> keep) =>
        _changes.TryKeep(mark, hash, ownChanges, state, keep);

    /// <summary>
    /// Like <see cref="TryKeep"/>, for a value that the caller has written with a lease (<see cref="Levels.DistributedLease.IsKeptByHolder"/>).
    /// Reports the write to the sink if the value is not kept.
    /// </summary>
    public bool TryKeepWritten<TState>(in ChangeMark mark, ulong hash, TState state, Func<TState, bool> keep) =>
        _changes.TryKeepWritten(mark, hash, state, keep);

    public void OnChanged(ulong hash) => _changes.Change(hash);

    public void OnAllChanged() => _changes.ChangeAll();
}
