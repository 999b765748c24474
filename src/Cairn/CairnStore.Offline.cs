using Cairn.Offline;

namespace Cairn;

// What is done to a store's file without opening the store.
public sealed unsafe partial class CairnStore
{
    /// <summary>Reads every structure and every entry of a store and tells what is wrong with it.</summary>
    /// <param name="path">The store's file, which is not changed; permission to read it is enough.</param>
    /// <param name="options">How much to report; null for the defaults.</param>
    /// <param name="progress">Told about each mebibyte or so.</param>
    /// <param name="cancellationToken">Ends the verification.</param>
    /// <returns>What was found. Damage is a finding, never an exception.</returns>
    /// <remarks>
    /// <para>
    /// May be used while processes have the store open: what their work explains is looked at again and not taken for damage.
    /// </para>
    /// <para>
    /// Most bytes are covered by a checksum, a complement, or another structure that must agree. Those that are not, because a wrong one costs
    /// nothing but a little hit ratio or a statistic, cannot be verified: frequencies, ghosts, keys of the change rings, and totals such as hits.
    /// </para>
    /// <para>Takes as much memory as one partition's index: a few MiB for a store of some GiB.</para>
    /// </remarks>
    /// <exception cref="FileNotFoundException">The file does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not read the file.</exception>
    /// <exception cref="StoreException">The path is not that of a regular file, or another system error; the message tells.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
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
    /// Copies what can be read of a store into a new file without gaps, garbage and damage, which then takes the place of the old one.
    /// </summary>
    /// <param name="path">The store's file. Nobody may have it open; whoever opens it meanwhile waits, up to a minute.</param>
    /// <param name="options">How large the new file is made; null for the defaults.</param>
    /// <param name="progress">Told about each mebibyte or so.</param>
    /// <param name="cancellationToken">Ends the work; the old file stays as it is.</param>
    /// <returns>What was kept.</returns>
    /// <remarks>
    /// <para>
    /// Kept are the values of all collections with their keys, flags and expirations, the collections' names and options, and the order in which
    /// entries would be evicted, as far as the new size allows. Versions are new and larger, so a compare-and-swap with one that was read before
    /// fails. Statistics start at zero. Leases end. A collection whose name is damaged becomes "damaged collection N".
    /// </para>
    /// <para>
    /// The new file is made beside the old one, without a name until it is complete and on disk; then it takes the name in one step. Whatever
    /// goes wrong before that, the end of the process included, leaves the old file untouched and nothing else behind. The disk needs room
    /// for both.
    /// </para>
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">An option is outside its range, or too small for the store's index.</exception>
    /// <exception cref="FileNotFoundException">The file does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not write the file or its directory.</exception>
    /// <exception cref="StoreCorruptException">The file is not a store, or its layout cannot be read.</exception>
    /// <exception cref="StoreVersionException">The file was written by a version of Cairn that this one does not understand.</exception>
    /// <exception cref="StoreUnsupportedFileSystemException">The file is on a network or user-space file system.</exception>
    /// <exception cref="StoreException">
    /// Somebody has the store open; the machine restarted before it was closed, so that nothing in it can be trusted; the disk is full; or another
    /// system error. The message tells.
    /// </exception>
    /// <exception cref="OperationCanceledException">It was cancelled.</exception>
    public static CompactReport Compact(
        string path, CompactOptions? options = null, IProgress<StoreProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        options ??= new CompactOptions();
        options.Validate();
        return Compactor.Compact(path, options, progress, cancellationToken);
    }

    /// <summary>Changes the key or password that an encrypted store is opened with. What it holds is not encrypted anew.</summary>
    /// <param name="path">The store's file. Nobody may have it open; whoever opens it meanwhile waits.</param>
    /// <param name="current">The key or password as it is.</param>
    /// <param name="replacement">The key or password from now on.</param>
    /// <remarks>
    /// At once, whatever the size, because what changes is only how the store's own key is kept. So copies that were made before, a
    /// backup or a stolen file, are opened by the earlier key or password for ever, and who has once opened one of them can decrypt what is in
    /// the store now. <see cref="Reencrypt"/> is for that case. If the process ends in between, the store opens with one of the two.
    /// </remarks>
    /// <exception cref="FileNotFoundException">The file does not exist.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not write the file.</exception>
    /// <exception cref="StoreEncryptionException">The key or password is not the store's, or the store is not encrypted.</exception>
    /// <exception cref="StoreCorruptException">The file is not a store, or its key is damaged.</exception>
    /// <exception cref="StoreException">Somebody has the store open, or another system error; the message tells.</exception>
    public static void Rekey(string path, StoreEncryption current, StoreEncryption replacement)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        ArgumentNullException.ThrowIfNull(current);
        ArgumentNullException.ThrowIfNull(replacement);
        Rekeyer.Rekey(path, current, replacement);
    }

    /// <summary>Copies a store into a new file that is encrypted with a new key of its own, or not encrypted, which then takes its place.</summary>
    /// <param name="path">The store's file. Nobody may have it open; whoever opens it meanwhile waits, up to a minute.</param>
    /// <param name="current">The key or password as it is; null if the store is not encrypted.</param>
    /// <param name="replacement">The key or password from then on; null if the store is not to be encrypted any more.</param>
    /// <param name="options">How large the new file is made; null for the defaults.</param>
    /// <param name="progress">Told about each mebibyte or so.</param>
    /// <param name="cancellationToken">Ends the work; the old file stays as it is.</param>
    /// <returns>What was kept. Entries that were not written with the store's key count as damaged.</returns>
    /// <remarks>
    /// As <see cref="Compact"/>, whose remarks and exceptions hold. Nothing that was known of the old file, its key included, helps with
    /// the new one. The old file is deleted, not wiped: what the disk keeps of it is for the file system and the device to say.
    /// </remarks>
    /// <exception cref="StoreEncryptionException">The key or password is missing or wrong, or the store is not encrypted.</exception>
    /// <exception cref="StoreException">
    /// As for <see cref="Compact"/>; or a hash of the server is in a store that is to be encrypted.
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
}
