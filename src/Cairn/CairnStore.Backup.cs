using Cairn.Snapshots;

namespace Cairn;

// Snapshots, backups, and stores that are restored from them.
public sealed unsafe partial class CairnStore
{
    internal Checkpointer Checkpointer => _opened.Checkpointer;

    /// <summary>Writes the entries of the logged collections to a new snapshot, so that the log before it can be deleted.</summary>
    /// <param name="progress">Receives the progress from time to time.</param>
    /// <param name="cancellationToken">Ends the checkpoint. The earlier snapshot stays.</param>
    /// <remarks>
    /// The store writes a checkpoint automatically when the log has grown longer than the data that it protects. A checkpoint before a planned restart of
    /// the machine makes the next opening faster. Reads and writes continue during a checkpoint, except for a moment at its beginning.
    /// </remarks>
    /// <exception cref="StoreCorruptException">An entry is damaged. The earlier snapshot and the log still contain it.</exception>
    /// <exception cref="StoreReadOnlyException">The disk has failed.</exception>
    /// <exception cref="StoreException">The disk is full, a stopped process holds a lock, or another system error. Nothing was changed.</exception>
    /// <exception cref="OperationCanceledException">The caller cancelled the checkpoint.</exception>
    public void Checkpoint(IProgress<StoreProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        Engine.ThrowIfClosed();
        _opened.Checkpointer.Run(progress, cancellationToken);
    }

    /// <summary>Copies a store that is in use into one file. <see cref="StoreMaintenance.Restore"/> creates a store from that file.</summary>
    /// <param name="destinationPath">The backup's file. An existing file is replaced when the new one is complete and durable.</param>
    /// <param name="options">The content of the backup. Null uses the defaults.</param>
    /// <param name="progress">Receives the progress from time to time.</param>
    /// <param name="cancellationToken">Ends the backup. No file remains.</param>
    /// <returns>The result of the backup.</returns>
    /// <remarks>
    /// The backup contains all logged collections (<see cref="CollectionOptions.Durability"/>) as they were at one common moment, with complete
    /// transactions. Each entry of another collection is in the backup as it was at some moment during the backup. The backup does not contain versions,
    /// leases and statistics. The backup of an encrypted store is encrypted.
    /// </remarks>
    /// <exception cref="ArgumentException">The path is the path of the store or of its log.</exception>
    /// <exception cref="DirectoryNotFoundException">The backup's directory does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not create files there.</exception>
    /// <exception cref="StoreCorruptException">A kept entry is damaged.</exception>
    /// <exception cref="StoreException">The disk is full, a stopped process holds a lock, or another system error. The message names the cause.</exception>
    /// <exception cref="OperationCanceledException">The caller cancelled the backup.</exception>
    public BackupReport Backup(
        string destinationPath, BackupOptions? options = null, IProgress<StoreProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(destinationPath);
        Engine.ThrowIfClosed();
        return _opened.Checkpointer.Alone(
            token => new BackupWriter(Engine, _opened.Checkpointer.Platform, Options.TimeProvider).Write(
                System.IO.Path.GetFullPath(destinationPath), options ?? new BackupOptions(), progress, token),
            cancellationToken);
    }
}
