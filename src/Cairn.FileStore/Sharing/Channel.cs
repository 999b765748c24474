namespace Cairn.FileStore.Sharing;

/// <summary>
/// How processes with one file hear of each other's changes and take turns in writing. Either all of it is in a mapped side
/// file, or, where memory is not shared, there is a lock only and changes are found by looking at the file.
/// </summary>
internal abstract unsafe class Channel
{
    /// <summary>The word that changes with every commit. Readable for as long as this object is referenced, disposed of or not.</summary>
    public long* Word { get; protected init; }

    /// <summary>Whether <see cref="Word"/> and the records tell of others' changes.</summary>
    public abstract bool IsShared { get; }

    /// <summary>Whether this user may take a turn.</summary>
    public virtual bool CanWrite => true;

    /// <summary>Whether the paths still lead to what this channel uses.</summary>
    public abstract bool IsCurrent { get; }

    /// <summary>Waits for this process's turn to write. The kernel ends the turn of a process that dies.</summary>
    /// <exception cref="DistributedFileStoreCacheException">The time passed.</exception>
    public abstract void Enter(TimeSpan timeout);

    /// <summary>Ends the turn.</summary>
    public abstract void Leave();

    /// <summary>The generation and its record. Without a shared word, an empty record.</summary>
    public abstract CommitRecord Read(out long generation);

    /// <summary>Makes a change known. The caller has the turn and has made the change.</summary>
    /// <returns>The new generation.</returns>
    public abstract long Commit(CommitRecord record, bool isNewBase);

    /// <summary>Gives the locks back. The word stays readable.</summary>
    public abstract void Close();
}
