namespace Cairn.Caching.Coherence;

// Keeps the first level coherent with changes by other processes.
//
//   I1  A read calls TryCatchUp first and looks into the first level afterwards. Every change that was acknowledged before the call has then
//       reached IChangeSink, so an entry that is found is not older.
//   I2  A fill takes a mark before it reads or computes the value, and keeps the value through TryKeep, which refuses if another operation,
//       here or in another process, has changed the key since. So no old value is kept between a change and its report.
internal interface ICoherence
{
    /// <summary>
    /// True if every change is reported. False if other machines share the second level and no channel reports their changes, so that
    /// knowledge of the second level becomes outdated.
    /// </summary>
    bool SeesAllChanges { get; }

    /// <summary>Sets the sink of the first level. Called once, before any other method.</summary>
    void Attach(IChangeSink sink);

    /// <summary>Returns whether the first level's entries of the hash are current now. Reports outstanding changes to the sink first.</summary>
    /// <returns>False while the channel has been interrupted for longer than allowed: the second level must be read.</returns>
    bool TryCatchUp(ulong hash);

    /// <summary>
    /// While <see cref="TryCatchUp"/> returns false, entries that are known to be no older than this many milliseconds may still be used; 0
    /// if none may.
    /// </summary>
    long AllowedAgeMs { get; }

    /// <summary>Returns the present position in the changes of the hash.</summary>
    ChangeMark Mark(ulong hash);

    /// <summary>Returns the present positions in all changes, for tags that are known only after the value was created.</summary>
    ChangeMark[] MarkAll();

    /// <summary>Returns whether the hash was not changed since the mark.</summary>
    bool IsUnchanged(in ChangeMark mark, ulong hash);

    /// <summary>Returns whether the hash was not changed since the marks of <see cref="MarkAll"/>.</summary>
    bool IsUnchanged(ChangeMark[] marks, ulong hash);

    /// <summary>
    /// Runs <paramref name="keep"/>, which may refuse, unless the hash was changed more than <paramref name="ownChanges"/> times since the
    /// mark.
    /// </summary>
    /// <returns>The result of <paramref name="keep"/>; false if it was not run.</returns>
    bool TryKeep<TState>(in ChangeMark mark, ulong hash, int ownChanges, TState state, Func<TState, bool> keep);
}
