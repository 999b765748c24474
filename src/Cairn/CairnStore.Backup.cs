using Cairn.Opening;
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

    /// <summary>Copies a store that is in use into one file. <see cref="Restore"/> creates a store from that file.</summary>
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

    /// <summary>Creates a new store from a backup.</summary>
    /// <param name="backupPath">
    /// A file that <see cref="Backup"/> wrote. Or the snapshot (<c>STORE.snapshot</c>) or a log file (<c>STORE.log-...</c>) of a store that was lost. In
    /// that case the new store has the content of the snapshot and of all log files together.
    /// </param>
    /// <param name="options">The path and the size of the new store. No file may exist at its path or at the paths of its log.</param>
    /// <param name="progress">Receives the progress about once per MiB.</param>
    /// <param name="cancellationToken">Ends the restore. No store remains.</param>
    /// <returns>The result of the restore.</returns>
    /// <remarks>
    /// The new store appears under its path as the last step, when it is complete and durable. Its entries have new versions. Expired entries are left out.
    /// </remarks>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="FileNotFoundException">The backup does not exist.</exception>
    /// <exception cref="DirectoryNotFoundException">The new store's directory does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read the backup, or create files there.</exception>
    /// <exception cref="StoreCorruptException">
    /// The file is not a backup, or is damaged or incomplete. <see cref="Salvage"/> restores the parts that are not damaged.
    /// </exception>
    /// <exception cref="StoreVersionException">A version of Cairn wrote the backup in a format that this version does not read.</exception>
    /// <exception cref="StoreFullException">The kept entries do not fit. Give the store a larger capacity.</exception>
    /// <exception cref="StoreException">
    /// A store or its log already exists at the path, the disk is full, or another system error. The message names the cause.
    /// </exception>
    /// <exception cref="OperationCanceledException">The caller cancelled the restore.</exception>
    public static RestoreReport Restore(
        string backupPath, StoreOptions options, IProgress<StoreProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(backupPath);
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        return StoreRestorer.Restore(System.IO.Path.GetFullPath(backupPath), options, salvages: false, progress, cancellationToken);
    }

    /// <summary>
    /// Creates a new store from the parts of a damaged backup that can still be read. It can also salvage a damaged or incomplete log and snapshot.
    /// </summary>
    /// <param name="backupPath">The same as for <see cref="Restore"/>.</param>
    /// <param name="options">The same as for <see cref="Restore"/>.</param>
    /// <param name="progress">The same as for <see cref="Restore"/>.</param>
    /// <param name="cancellationToken">Ends the salvage. No store remains.</param>
    /// <returns>The result of the salvage. <see cref="RestoreReport.LeftOut"/> lists the missing parts.</returns>
    /// <remarks>
    /// Use this method only if <see cref="Restore"/> refuses the damaged files. If a write is missing, its key has an older value, or has a value although
    /// it was removed. A transaction is restored completely or not at all. The damaged files stay unchanged.
    /// </remarks>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="FileNotFoundException">The file does not exist.</exception>
    /// <exception cref="DirectoryNotFoundException">The new store's directory does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read the file, or create files in the new store's directory.</exception>
    /// <exception cref="StoreCorruptException">The file is neither a backup nor a part of a log.</exception>
    /// <exception cref="StoreVersionException">A version of Cairn wrote the file in a format that this version does not read.</exception>
    /// <exception cref="StoreFullException">The kept entries do not fit. Give the store a larger capacity.</exception>
    /// <exception cref="StoreException">
    /// A store or its log already exists at the path, the disk is full, or another system error. The message names the cause.
    /// </exception>
    /// <exception cref="OperationCanceledException">The caller cancelled the salvage.</exception>
    public static RestoreReport Salvage(
        string backupPath, StoreOptions options, IProgress<StoreProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(backupPath);
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        return StoreRestorer.Restore(System.IO.Path.GetFullPath(backupPath), options, salvages: true, progress, cancellationToken);
    }
}
