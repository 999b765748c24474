using Cairn.Opening;
using Cairn.Snapshots;

namespace Cairn;

// Snapshots, backups, and stores that are made from them.
public sealed unsafe partial class CairnStore
{
    internal Checkpointer Checkpointer => _opened.Checkpointer;

    /// <summary>Writes what the logged collections hold to a new snapshot, so that the log before it can be deleted.</summary>
    /// <param name="progress">Told now and then.</param>
    /// <param name="cancellationToken">Ends it; the earlier snapshot stays.</param>
    /// <remarks>
    /// Happens by itself when the log has grown longer than what it protects. Doing it before a planned restart of the machine makes the next
    /// opening faster. Everybody goes on reading and writing meanwhile, but for a moment at the beginning.
    /// </remarks>
    /// <exception cref="StoreCorruptException">An entry is damaged. The earlier snapshot and the log still have it.</exception>
    /// <exception cref="StoreReadOnlyException">The disk has failed.</exception>
    /// <exception cref="StoreException">The disk is full, a stopped process holds a lock, or another system error. Nothing was changed.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    public void Checkpoint(IProgress<StoreProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        Engine.ThrowIfClosed();
        _opened.Checkpointer.Run(progress, cancellationToken);
    }

    /// <summary>Copies a store that is in use into one file, from which <see cref="Restore"/> makes a store.</summary>
    /// <param name="destinationPath">The backup's file. One that exists is replaced once the new one is complete and on disk.</param>
    /// <param name="options">What is in it; null for the defaults.</param>
    /// <param name="progress">Told now and then.</param>
    /// <param name="cancellationToken">Ends it; nothing is left behind.</param>
    /// <returns>What was written.</returns>
    /// <remarks>
    /// Collections with a log (<see cref="CollectionOptions.Durability"/>) are in it as they all were at one moment, with transactions whole. Of any
    /// other, each entry is in it as it was at some moment meanwhile. Versions, leases and statistics are not. An encrypted store gives an encrypted backup.
    /// </remarks>
    /// <exception cref="ArgumentException">The path is that of the store, or of its log.</exception>
    /// <exception cref="DirectoryNotFoundException">The backup's directory does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not create files there.</exception>
    /// <exception cref="StoreCorruptException">An entry that is kept is damaged.</exception>
    /// <exception cref="StoreException">The disk is full, a stopped process holds a lock, or another system error; the message tells.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    public BackupReport Backup(
        string destinationPath, BackupOptions? options = null, IProgress<StoreProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(destinationPath);
        Engine.ThrowIfClosed();
        return _opened.Checkpointer.Alone(
            token => new BackupWriter(Engine, _opened.Checkpointer.Platform, Options.Clock).Write(
                System.IO.Path.GetFullPath(destinationPath), options ?? new BackupOptions(), progress, token),
            cancellationToken);
    }

    /// <summary>Makes a new store from a backup.</summary>
    /// <param name="backupPath">
    /// A file that <see cref="Backup"/> wrote. Or a snapshot (<c>STORE.snapshot</c>) or file of the log (<c>STORE.log-...</c>) of a store that was lost: then
    /// the new store has what all of those together say.
    /// </param>
    /// <param name="options">Where the new store is and how large it is made. No file may have its path, nor those of its log.</param>
    /// <param name="progress">Told about each mebibyte or so.</param>
    /// <param name="cancellationToken">Ends it; no store is left behind.</param>
    /// <returns>What was made.</returns>
    /// <remarks>The store appears, complete and on disk, when everything else is done. Versions are new. Entries that have expired are left out.</remarks>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="FileNotFoundException">The backup does not exist.</exception>
    /// <exception cref="DirectoryNotFoundException">The new store's directory does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read the backup, or create files there.</exception>
    /// <exception cref="StoreCorruptException">The file is not a backup, or is damaged or incomplete; <see cref="Salvage"/> takes what is whole.</exception>
    /// <exception cref="StoreVersionException">The backup was written by a version of Cairn that this one does not understand.</exception>
    /// <exception cref="StoreFullException">Entries that are kept do not fit: give the store a larger capacity.</exception>
    /// <exception cref="StoreException">There is a store already, or a log of one; the disk is full; or another system error. The message tells.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    public static RestoreReport Restore(
        string backupPath, StoreOptions options, IProgress<StoreProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(backupPath);
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        return StoreRestorer.Restore(System.IO.Path.GetFullPath(backupPath), options, salvages: false, progress, cancellationToken);
    }

    /// <summary>Makes a new store of what can still be read of a damaged backup, or of a damaged or incomplete log and snapshot.</summary>
    /// <param name="backupPath">As of <see cref="Restore"/>.</param>
    /// <param name="options">As of <see cref="Restore"/>.</param>
    /// <param name="progress">As of <see cref="Restore"/>.</param>
    /// <param name="cancellationToken">Ends it; no store is left behind.</param>
    /// <returns>What was made, and in <see cref="RestoreReport.LeftOut"/> what is missing.</returns>
    /// <remarks>
    /// The last resort: <see cref="Restore"/> refuses what is damaged. Where a write is missing, its key has an older value, or is there although it was removed.
    /// A transaction is there as a whole or not at all. The damaged files stay as they are.
    /// </remarks>
    /// <exception cref="ArgumentException">An option is outside its range.</exception>
    /// <exception cref="FileNotFoundException">The file does not exist.</exception>
    /// <exception cref="DirectoryNotFoundException">The new store's directory does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read the file, or create files there.</exception>
    /// <exception cref="StoreCorruptException">The file is not a backup, nor of a log.</exception>
    /// <exception cref="StoreVersionException">The file was written by a version of Cairn that this one does not understand.</exception>
    /// <exception cref="StoreFullException">Entries that are kept do not fit: give the store a larger capacity.</exception>
    /// <exception cref="StoreException">There is a store already, or a log of one; the disk is full; or another system error. The message tells.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    public static RestoreReport Salvage(
        string backupPath, StoreOptions options, IProgress<StoreProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(backupPath);
        ArgumentNullException.ThrowIfNull(options);
        options.Validate();
        return StoreRestorer.Restore(System.IO.Path.GetFullPath(backupPath), options, salvages: true, progress, cancellationToken);
    }
}
