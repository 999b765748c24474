using Cairn.Opening;
using Cairn.Platform;
using Cairn.WriteAhead;

namespace Cairn.Offline;

// Reads the snapshot and the log beside a store in the same way as a rebuild of the store does. Reports the problems for which a rebuild would fail. The
// caller ensures that no process has the store open, because such a process can delete pieces at any moment.
internal static unsafe class LogCheck
{
    /// <summary>Checks the log of a store.</summary>
    /// <param name="platform">The platform of the files.</param>
    /// <param name="image">The store's file.</param>
    /// <param name="storePath">The path of the store's file.</param>
    /// <param name="super">The first page of the store's file.</param>
    /// <param name="findings">Receives the findings.</param>
    /// <param name="cancellationToken">Ends the check.</param>
    public static void Check(StorePlatform platform, StoreImage image, string storePath, Superblock* super, FindingList findings, CancellationToken cancellationToken)
    {
        LogBlock* block = &super->Log;
        if (block->LogId == 0)
        {
            return;
        }

        if (block->Failed != 0)
        {
            findings.Note(VerifyArea.Log, 0, "The log was not read: a disk failed it, or it was not made yet. The next opening makes a new one from the store's file.");
            return;
        }

        var damages = new Dictionary<string, StoreCorruptException>(StringComparer.Ordinal);
        string? note = null;
        if (!OwnerCheck.HasOpeningOrGate(image))
        {
            note = TryRead(
                platform, storePath, block, damage => damages.TryAdd(damage.Message, damage), out Exception? failure, cancellationToken);
            if (failure is not null)
            {
                note = $"The log could not be read: {failure.Message}";
            }
        }

        bool isOpened = OwnerCheck.HasOpeningOrGate(image)
            || !image.TryReadUInt64(System.Runtime.InteropServices.Marshal.OffsetOf<Superblock>(nameof(Superblock.OpenCount)), out ulong openCount)
            || openCount != super->OpenCount;
        if (isOpened)
        {
            findings.Note(VerifyArea.Log, 0, "The log was not read, because the store is in use. End the programs that use it, and verify again.");
            return;
        }

        foreach (StoreCorruptException damage in damages.Values)
        {
            findings.Damage(VerifyArea.Log, damage.Offset, damage.Message);
        }

        if (note is not null)
        {
            findings.Note(VerifyArea.Log, 0, note);
        }
    }

    /// <summary>
    /// Returns whether the log of a store that no process has open is damaged. It is damaged if it cannot be read, if a file is missing, or if a record
    /// that must be readable is not.
    /// </summary>
    /// <param name="platform">The platform of the files.</param>
    /// <param name="storePath">The store's path.</param>
    /// <param name="block">The state of the log in the store's file.</param>
    /// <param name="cancellationToken">Ends the check.</param>
    public static bool IsDamaged(StorePlatform platform, string storePath, LogBlock* block, CancellationToken cancellationToken)
    {
        if (block->LogId == 0 || block->Failed != 0)
        {
            return false;
        }

        bool isDamaged = false;
        TryRead(platform, storePath, block, _ => isDamaged = true, out Exception? failure, cancellationToken);
        return isDamaged || failure is not null;
    }

    // Reads the log. Returns the text of a note, if there is one and the log could be read.
    private static string? TryRead(
        StorePlatform platform, string storePath, LogBlock* block, Action<StoreCorruptException> onDamage, out Exception? failure,
        CancellationToken cancellationToken)
    {
        failure = null;
        try
        {
            return Read(platform, storePath, block, onDamage, cancellationToken);
        }
        catch (Exception e) when (e is StoreException or FileNotFoundException or UnauthorizedAccessException)
        {
            failure = e;
            return null;
        }
    }

    private static string? Read(
        StorePlatform platform, string storePath, LogBlock* block, Action<StoreCorruptException> onDamage, CancellationToken cancellationToken)
    {
        LogFileSet files = LogFileSet.Find(platform, storePath, onDamage);
        if (files.All.FirstOrDefault(file => file.Header.LogId != block->LogId) is { } foreign)
        {
            return $"The log was not read: the file '{foreign.Path}' is of the log of another store.";
        }

        LogEnd end = LogWalk.ReadAll(
            platform, files, LogPromise.Of(block), (in LogRecord _) => cancellationToken.ThrowIfCancellationRequested(), onDamage);
        return end.Torn is null ? null : LogOpening.DescribeTorn(end);
    }
}
