namespace Cairn.FileStore.Sharing;

/// <summary>
/// Coordinates the processes that share a file: it announces changes and gives one writer at a time its turn. Both use a mapped side file.
/// If memory cannot be shared, there is only a lock, and processes find changes by checking the file.
/// </summary>
internal abstract unsafe class Channel
{
    /// <summary>
    /// Gets the word that changes with every commit. Readable while this object is referenced, even after <see cref="Close"/>.
    /// </summary>
    public long* Word { get; protected init; }

    /// <summary>Gets whether <see cref="Word"/> and the records announce the changes of other processes.</summary>
    public abstract bool IsShared { get; }

    /// <summary>Gets whether this user has the permission to take a turn.</summary>
    public virtual bool CanWrite => true;

    /// <summary>Gets whether the path still leads to the side file that this channel uses.</summary>
    public abstract bool IsCurrent { get; }

    /// <summary>Waits for this process's turn to write. The kernel ends the turn of a process that dies.</summary>
    /// <exception cref="DistributedFileStoreCacheException">The time-out has passed.</exception>
    public abstract void Enter(TimeSpan timeout);

    /// <summary>Ends the turn.</summary>
    public abstract void Leave();

    /// <summary>Returns the generation and its record; an empty record if there is no shared word.</summary>
    public abstract CommitRecord Read(out long generation);

    /// <summary>Announces a change. The caller has the turn and has already written the change to the file.</summary>
    /// <returns>The new generation.</returns>
    public abstract long Commit(CommitRecord record, bool isNewBase);

    /// <summary>Releases the locks. The word stays readable.</summary>
    public abstract void Close();
}
