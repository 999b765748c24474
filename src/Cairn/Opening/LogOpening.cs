using Cairn.Engine;
using Cairn.Platform;
using Cairn.Snapshots;
using Cairn.Steps;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Opening;

// The log of a store that is opened by one alone.
//
//   the map is whole, and the log ends where it says --> both go on as they are
//   the map is whole, but the log has failed, or is missing --> said on the disk --> a snapshot of the map --> a new piece behind it --> said to be in use
//   the map is not whole, or older than the log --> emptied, and built anew from snapshot and log; then a new piece begins where the log ends
//
//   I1  Before the new piece is on the disk, nobody is let in. So what lies torn behind the end of the log never counts again: the piece
//       that it lies in ends where the new one begins.
//   I2  While the map is built the superblock says that it is being emptied. So whoever dies in it leaves it to the next to begin anew.
//   I3  Where a map was closed whose log is missing or has failed, it is all there is, and it counts only as long as the file says that it is
//       closed. So the log is made before that changes, from a copy of the map in memory; whoever dies in it, or whose machine does, leaves
//       the map as it was, and the next begins anew, because the superblock says that there is no log (LogBlock.NotMade).
internal static unsafe class LogOpening
{
    /// <summary>Refuses to make a new store beside the log of another: whoever lost the store's file would lose the rest.</summary>
    public static void RefuseOrphans(StorePlatform platform, string storePath)
    {
        IReadOnlyList<string> names = LogFileSet.Names(platform, storePath);
        if (names.Count > 0)
        {
            throw new StoreException(
                $"There is no store '{storePath}', but the log of one beside it: {string.Join(", ", names)}. Bring the store's file back; or make a new one " +
                $"from them with 'cairn restore {names[0]} --store NEW'; or delete them, and a new store begins empty.");
        }
    }

    /// <summary>The log that a store has, if it has one.</summary>
    /// <param name="platform">Where they are.</param>
    /// <param name="file">The store's.</param>
    /// <param name="super">Its first page.</param>
    /// <param name="isMapWhole">Whether the store's file says that it is whole.</param>
    /// <exception cref="StoreException">The files are those of another store, or some are missing or damaged.</exception>
    public static LogFileSet Find(StorePlatform platform, StoreFile file, Superblock* super, bool isMapWhole)
    {
        LogFileSet files = LogFileSet.Find(platform, file.Path);
        ulong logId = super->Log.LogId;
        foreach (LogFileInfo found in files.All)
        {
            if (logId == 0 && !isMapWhole)
            {
                logId = found.Header.LogId; // The page that named it was not on the disk yet.
            }

            if (found.Header.LogId != logId && (logId != 0 || HasRecords(platform, found)))
            {
                throw new StoreException(
                    $"The file '{found.Path}' is of the log of another store than '{file.Path}'. Find out where it belongs; without it, this store opens.");
            }
        }

        if (!isMapWhole && super->Log.LogId != 0)
        {
            // The first version left no mark. Its log had a piece, too.
            LogPromise promise = LogPromise.Of(&super->Log);
            files.RequireComplete(promise with { Sequence = Math.Max(promise.Sequence, LogPath.FirstSequence) }, onDamage: null);
        }

        return files;
    }

    /// <summary>What to tell the user about a map that is emptied.</summary>
    public static string DescribeLoss(string storePath, LogFileSet files, bool isOld)
    {
        string rest = files.IsEmpty
            ? "it starts empty."
            : "what is in its log was read again, and everything else is gone: collections without a log start empty.";
        return isOld
            ? $"The file of the store '{storePath}' is older than its log, as a copy that was put back is, so {rest}"
            : $"The machine restarted before the store '{storePath}' was closed, so what its file held cannot be trusted: {rest}";
    }

    /// <summary>Whether the log has more than the map, which was closed, says: then the map is an old copy.</summary>
    public static bool IsAhead(StorePlatform platform, LogFileSet files, Superblock* super)
    {
        LogBlock* block = &super->Log;
        if (block->LogId == 0 || files.Files.Count == 0)
        {
            return false;
        }

        LogFileState state = *StoreLog.StateOf(block, block->Current & 1);
        LogFileInfo last = files.Files[^1];
        if (block->Failed != 0 && last.Header.StartPosition == block->Tail && !HasRecords(platform, last))
        {
            return false; // Who made it did not come to use it (I3).
        }

        if (last.Header.Sequence != state.Sequence)
        {
            return last.Header.Sequence > state.Sequence;
        }

        using LogReader reader = LogFileSet.Open(platform, last);
        if (last.Header.Salt != state.Salt || block->Tail < last.Header.StartPosition || last.Header.SealedDurable > block->Tail)
        {
            return true;
        }

        reader.Seek(block->Tail);
        return reader.TryRead(out _);
    }

    /// <summary>Builds an empty map anew, in a store whose superblock says that it is being emptied (I2).</summary>
    /// <returns>Where the log ended.</returns>
    public static LogEnd Rebuild(StoreEngine engine, StorePlatform platform, LogFileSet files, StoreOptions options)
    {
        LogBlock* block = &engine.Memory.Super->Log;
        var replay = new RecordReplay(engine, acceptsAll: false, progress: null, CancellationToken.None);
        LogEnd end = replay.Run(platform, files, LogPromise.Of(block));
        *block = block->Emptied(files.All.First().Header.LogId);
        block->Checkpoint = files.Snapshot?.Header.StartPosition ?? 0;
        BeginPiece(engine, platform, files, end.Position, options);
        ProtocolHook.Reach(ProtocolStep.LogRebuilt);
        return end;
    }

    /// <summary>What to tell the user about a piece of which the end was torn.</summary>
    public static string DescribeTorn(LogEnd end) =>
        $"The log's last file '{end.Torn}' ends with a record that is not whole. A loss of power leaves that of a write that had not returned. Only if the disk has " +
        "damaged what it had confirmed was it one that had.";

    /// <summary>Whether a whole map has logged collections without a log that can be gone on with.</summary>
    public static bool IsWanting(StoreEngine engine, LogFileSet files)
    {
        LogBlock* block = &engine.Memory.Super->Log;
        return engine.IsAnyLogged()
            && (block->LogId == 0 || block->Failed != 0 || !files.IsUnbroken || !Has(files, *StoreLog.StateOf(block, block->Current & 1)));
    }

    /// <summary>Says that there is no log for what the map has, before anything of it is made anew.</summary>
    public static void Disown(StoreMemory memory)
    {
        LogBlock* block = &memory.Super->Log;
        if (block->LogId == 0)
        {
            block->LogId = RandomBits.Next();
            block->Tail = LogPath.FirstPosition;
        }

        block->Failed = LogBlock.NotMade;
    }

    /// <summary>Makes a snapshot of a whole map that nobody else has open, and begins a new piece of the log behind it.</summary>
    public static void Establish(StoreEngine engine, StorePlatform platform, LogFileSet files, StoreOptions options)
    {
        LogBlock* block = &engine.Memory.Super->Log;
        Disown(engine.Memory);
        using var checkpointer = new Checkpointer(engine, platform, options.Clock);
        block->Checkpoint = checkpointer.RunAlone(isWritten: false, progress: null, CancellationToken.None);
        BeginPiece(engine, platform, files, block->Tail, options);
        ProtocolHook.Reach(ProtocolStep.LogEstablished);
        engine.Memory.Region.Flush(0, StoreLayout.SuperblockBytes); // LogBlock I5
        checkpointer.DeleteBelow(block->Checkpoint);
        block->Served = block->Wanted;
        block->Failed = 0;
    }

    private static bool Has(LogFileSet files, LogFileState state) =>
        files.Files.Any(file => file.Header.Sequence == state.Sequence && file.Header.Salt == state.Salt);

    private static bool HasRecords(StorePlatform platform, LogFileInfo info)
    {
        using LogReader reader = LogFileSet.Open(platform, info);
        return reader.TryRead(out _);
    }

    private static void BeginPiece(StoreEngine engine, StorePlatform platform, LogFileSet files, long position, StoreOptions options)
    {
        LogBlock* block = &engine.Memory.Super->Log;
        block->File0 = LogFiles.Create(
            platform, engine.Memory, block->LogId, Math.Max(files.HighestSequence, Math.Max(block->File0.Sequence, block->File1.Sequence)) + 1, position, options.LogFileBytes,
            options.Clock.GetUtcNow().ToUnixTimeMilliseconds());
        block->File1 = default;
        block->Current = 0;
        block->Tail = position;
        block->Durable = position;
        block->DurableMark = LogMark.OfPosition(position);
    }
}
