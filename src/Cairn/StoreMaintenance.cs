using Cairn.Offline;
using Cairn.Opening;

namespace Cairn;

/// <summary>
/// Operations on the file of a store that do not open the store: verify it, compact it, change its key, and create a store from a backup.
/// </summary>
/// <remarks>
/// <see cref="CairnStore.Open"/> opens a store. <see cref="CairnStore.Backup"/> and <see cref="CairnStore.Checkpoint"/> work on an open store.
/// </remarks>
public static class StoreMaintenance
{
    /// <summary>Reads every structure and every entry of a store and reports what is wrong.</summary>
    /// <param name="path">The store's file. It is not changed. Read permission is enough.</param>
    /// <param name="options">How much to report. Null uses the defaults.</param>
    /// <param name="progress">Receives the progress about once per MiB.</param>
    /// <param name="cancellationToken">Ends the verification.</param>
    /// <returns>The findings. Damage is a finding, never an exception.</returns>
    /// <remarks>
    /// <para>
    /// Processes can have the store open during the verification. If their work explains a difference, the verification looks again and does not report
    /// damage.
    /// </para>
    /// <para>
    /// A checksum, a complement or another structure that must agree covers most bytes. The others cannot be verified: frequencies, ghosts, keys of the
    /// invalidation rings, and totals such as hits. A wrong byte in them only costs a little hit ratio or falsifies a statistic.
    /// </para>
    /// <para>The verification needs as much memory as the index of one partition: a few MiB for a store of some GiB.</para>
    /// </remarks>
    /// <exception cref="FileNotFoundException">The file does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read the file.</exception>
    /// <exception cref="StoreException">The path does not name a regular file, or another system error. The message names the cause.</exception>
    /// <exception cref="OperationCanceledException">The caller cancelled the verification.</exception>
    public static VerifyReport Verify(
        string path, VerifyOptions? options = null, IProgress<StoreProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        options ??= new VerifyOptions();
        options.Validate();
        return Verifier.Verify(path, options, progress, cancellationToken);
    }

    /// <summary>
    /// Copies the readable content of a store into a new file without gaps, garbage and damage. The new file then replaces the old one.
    /// </summary>
    /// <param name="path">The store's file. No process may have it open. A process that opens it meanwhile waits, up to a minute.</param>
    /// <param name="options">The size of the new file. Null uses the defaults.</param>
    /// <param name="progress">Receives the progress about once per MiB.</param>
    /// <param name="cancellationToken">Ends the work. The old file stays unchanged.</param>
    /// <returns>The result of the compaction.</returns>
    /// <remarks>
    /// <para>
    /// The new file has the values of all collections with their keys, flags and expirations, and the names and options of the collections. It also has the
    /// order of eviction, as far as the new size allows. Versions are new and larger, so a compare-and-swap with a version that was read before fails.
    /// Statistics start at zero. Leases end. A collection whose name is damaged becomes "damaged collection N".
    /// </para>
    /// <para>
    /// The new file is created in the directory of the old one. It has no name until it is complete and durable. Then it takes the name in one step. If
    /// anything fails before that, even if the process ends, the old file is untouched and no other file remains. The disk needs room for both files.
    /// </para>
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">An option is outside its range, or too small for the store's index.</exception>
    /// <exception cref="FileNotFoundException">The file does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not write the file or its directory.</exception>
    /// <exception cref="StoreCorruptException">The file is not a store, or its layout cannot be read.</exception>
    /// <exception cref="StoreVersionException">A version of Cairn wrote the file in a format that this version does not read.</exception>
    /// <exception cref="StoreUnsupportedFileSystemException">The file is on a network or user-space file system.</exception>
    /// <exception cref="StoreException">
    /// A process has the store open; the machine restarted before the store was closed, so its content cannot be trusted; the disk is full; or another
    /// system error. The message names the cause.
    /// </exception>
    /// <exception cref="OperationCanceledException">The caller cancelled the compaction.</exception>
    public static CompactReport Compact(
        string path, CompactOptions? options = null, IProgress<StoreProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        options ??= new CompactOptions();
        options.Validate();
        return Compactor.Compact(path, options, progress, cancellationToken);
    }

    /// <summary>Changes the key or password with which an encrypted store is opened. It does not encrypt the entries again.</summary>
    /// <param name="path">The store's file. No process may have it open. A process that opens it meanwhile waits.</param>
    /// <param name="current">The present key or password.</param>
    /// <param name="replacement">The new key or password.</param>
    /// <remarks>
    /// The duration does not depend on the store's size, because only the encryption of the store's own key changes. An earlier copy of the file, such as a
    /// backup or a stolen file, still opens with the earlier key or password. A person with such a copy and its key can also decrypt the present content of
    /// the store. Use <see cref="Reencrypt"/> against that. If the process ends during the change, the store opens with one of the two.
    /// </remarks>
    /// <exception cref="FileNotFoundException">The file does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not write the file.</exception>
    /// <exception cref="StoreEncryptionException">The key or password is not the store's, or the store is not encrypted.</exception>
    /// <exception cref="StoreCorruptException">The file is not a store, or its key is damaged.</exception>
    /// <exception cref="StoreException">A process has the store open, or another system error. The message names the cause.</exception>
    public static void Rekey(string path, StoreEncryption current, StoreEncryption replacement)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        ArgumentNullException.ThrowIfNull(current);
        ArgumentNullException.ThrowIfNull(replacement);
        Rekeyer.Rekey(path, current, replacement);
    }

    /// <summary>
    /// Copies a store into a new file that is encrypted with a new key of its own, or that is not encrypted. The new file then replaces the old one.
    /// </summary>
    /// <param name="path">The store's file. No process may have it open. A process that opens it meanwhile waits, up to a minute.</param>
    /// <param name="current">The present key or password. Null if the store is not encrypted.</param>
    /// <param name="replacement">The new key or password. Null if the new file is not encrypted.</param>
    /// <param name="options">The size of the new file. Null uses the defaults.</param>
    /// <param name="progress">Receives the progress about once per MiB.</param>
    /// <param name="cancellationToken">Ends the work. The old file stays unchanged.</param>
    /// <returns>The result of the copy. Entries that were not written with the store's key count as damaged.</returns>
    /// <remarks>
    /// The remarks and exceptions of <see cref="Compact"/> apply. Nothing that was known about the old file, including its key, helps to read the new file.
    /// The old file is deleted, not wiped. The file system and the device decide how much of it remains on the disk.
    /// </remarks>
    /// <exception cref="StoreEncryptionException">The key or password is missing or wrong, or the store is not encrypted.</exception>
    /// <exception cref="StoreException">
    /// The same as for <see cref="Compact"/>; or a store that is to be encrypted contains a hash of the server.
    /// </exception>
    public static CompactReport Reencrypt(
        string path, StoreEncryption? current, StoreEncryption? replacement, CompactOptions? options = null,
        IProgress<StoreProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        options ??= new CompactOptions();
        options.Validate();
        using var reencryption = new Reencryption(current, replacement);
        return Compactor.Compact(path, options, progress, cancellationToken, reencryption);
    }

    /// <summary>Creates a new store from a backup.</summary>
    /// <param name="backupPath">
    /// A file that <see cref="CairnStore.Backup"/> wrote. Or the snapshot (<c>STORE.snapshot</c>) or a log file (<c>STORE.log-...</c>) of a store that was lost. In
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
        return StoreRestorer.Restore(Path.GetFullPath(backupPath), options, salvages: false, progress, cancellationToken);
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
        return StoreRestorer.Restore(Path.GetFullPath(backupPath), options, salvages: true, progress, cancellationToken);
    }
}
