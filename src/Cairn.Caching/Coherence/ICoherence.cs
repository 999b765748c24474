namespace Cairn.Caching.Coherence;

// How the first level learns of changes that were made elsewhere.
//
//   I1  Who reads asks TryCatchUp first and looks into the first level after. Every change that was acknowledged before
//       the question has then reached IChangeSink, so what is found is not older.
//   I2  Who fills takes a mark before it reads or computes, and keeps through TryKeep, which refuses if the key was changed
//       since by anyone else. Nothing is kept in between a change and its report.
internal interface ICoherence
{
    /// <summary>
    /// True if every change, whoever makes it, is reported; false if others share the second level and cannot be heard, so that what was
    /// learned of it grows old.
    /// </summary>
    bool SeesAllChanges { get; }

    /// <summary>Tells the one who holds the first level. Called once, before anything else.</summary>
    void Attach(IChangeSink sink);

    /// <summary>True if what the first level holds of the hash can be relied on now; reports the changes it did not know of.</summary>
    /// <returns>False while the connection to the others is lost for longer than allowed: the second level has to be asked.</returns>
    bool TryCatchUp(ulong hash);

    /// <summary>
    /// While <see cref="TryCatchUp"/> says no, what is known to be no older than this many milliseconds can be relied on all the same; 0
    /// if nothing can.
    /// </summary>
    long AllowedAgeMs { get; }

    /// <summary>Where the changes of the hash stand.</summary>
    ChangeMark Mark(ulong hash);

    /// <summary>Where all changes stand: for tags that are known only after the value was made.</summary>
    ChangeMark[] MarkAll();

    /// <summary>True if the hash was not changed since the mark.</summary>
    bool IsUnchanged(in ChangeMark mark, ulong hash);

    /// <summary>True if the hash was not changed since the marks of <see cref="MarkAll"/>.</summary>
    bool IsUnchanged(ChangeMark[] marks, ulong hash);

    /// <summary>Runs <paramref name="keep"/>, which may refuse, unless the hash was changed since the mark more than <paramref name="ownChanges"/> times.</summary>
    /// <returns>What <paramref name="keep"/> returned; false if it was not run.</returns>
    bool TryKeep<TState>(in ChangeMark mark, ulong hash, int ownChanges, TState state, Func<TState, bool> keep);
}
