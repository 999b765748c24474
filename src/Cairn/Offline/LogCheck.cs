using Cairn.Opening;
using Cairn.Platform;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Offline;

// Reads the snapshot and the log beside a store as building it anew would, and reports what that would refuse. Nobody has the store open: who has may delete
// pieces at any moment.
internal static unsafe class LogCheck
{
    /// <summary>Checks the log of a store.</summary>
    /// <param name="platform">Where the files are.</param>
    /// <param name="image">The store's file.</param>
    /// <param name="storePath">Its path.</param>
    /// <param name="super">Its first page.</param>
    /// <param name="findings">Where findings go.</param>
    /// <param name="cancellationToken">Ends it.</param>
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
        if (!OwnerCheck.IsAnybodyThere(image))
        {
            try
            {
                note = Read(platform, storePath, block, damage => damages.TryAdd(damage.Message, damage), cancellationToken);
            }
            catch (Exception failure) when (failure is StoreException or FileNotFoundException or UnauthorizedAccessException)
            {
                note = $"The log could not be read: {failure.Message}";
            }
        }

        bool isOpened = OwnerCheck.IsAnybodyThere(image)
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

    private static string? Read(StorePlatform platform, string storePath, LogBlock* block, Action<StoreCorruptException> onDamage, CancellationToken cancellationToken)
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
