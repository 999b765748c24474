using Cairn.Engine;
using Cairn.Platform;
using Cairn.Snapshots;
using Cairn.Steps;
using Cairn.WriteAhead;

namespace Cairn.Opening;

// Prepares the log when a process opens a store alone.
//
//   the map is valid, and the log ends where the map says --> both continue unchanged
//   the map is valid, but the log has failed, or is missing --> recorded on the disk --> a snapshot of the map --> a new piece behind it --> recorded as in use
//   the map is not valid, or older than the log --> emptied, and rebuilt from snapshot and log; then a new piece begins where the log ends
//
//   I1  Until the new piece is durable, no other process can open the store. So a torn record behind the end of the log never counts again: its piece
//       ends where the new one begins.
//   I2  While the map is rebuilt, the superblock says that it is being emptied. So if the process dies meanwhile, the next opening starts from the beginning.
//   I3  If a map was closed and its log is missing or has failed, the map is the only copy of the data. It is valid only as long as the file says that it is
//       closed. So the log is created before that changes, from a copy of the map in memory. If the process or the machine fails meanwhile, the map is
//       unchanged. The next opening starts from the beginning, because the superblock says that there is no log (LogBlock.NoLog).
internal static unsafe class LogOpening
{
    /// <summary>
    /// Refuses to create a new store beside the log of another one. After the loss of a store's file, that log is the only copy of the data.
    /// </summary>
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

    /// <summary>Returns the log files of a store, if it has any.</summary>
    /// <param name="platform">The platform of the files.</param>
    /// <param name="file">The store's file.</param>
    /// <param name="super">The first page of the store's file.</param>
    /// <param name="isMapWhole">Whether the store's file says that it is complete.</param>
    /// <exception cref="StoreException">The files belong to another store, or some are missing or damaged.</exception>
    public static LogFileSet Find(StorePlatform platform, StoreFile file, Superblock* super, bool isMapWhole)
    {
        LogFileSet files = LogFileSet.Find(platform, file.Path);
        ulong logId = super->Log.LogId;
        foreach (LogFileInfo found in files.All)
        {
            if (logId == 0 && !isMapWhole)
            {
                logId = found.Header.LogId; // The page with the id of the log was not durable yet.
            }

            if (found.Header.LogId != logId && (logId != 0 || HasRecords(platform, found)))
            {
                throw new StoreException(
                    $"The file '{found.Path}' is of the log of another store than '{file.Path}'. Find out where it belongs; without it, this store opens.");
            }
        }

        if (!isMapWhole && super->Log.LogId != 0)
        {
            // The first version wrote no mark. Its log always had a piece.
            LogPromise promise = LogPromise.Of(&super->Log);
            files.RequireComplete(promise with { Sequence = Math.Max(promise.Sequence, LogPath.FirstSequence) }, onDamage: null);
        }

        return files;
    }

    /// <summary>Returns the warning for the user about a map that was emptied.</summary>
    public static string DescribeLoss(string storePath, LogFileSet files, bool isOld)
    {
        string rest = files.IsEmpty
            ? "it starts empty."
            : "collections with a log were rebuilt from it, and all others start empty.";
        return isOld
            ? $"The file of the store '{storePath}' is older than its log, perhaps because a copy was put back, so {rest}"
            : $"The machine restarted before the store '{storePath}' was closed, so the content of its file cannot be trusted: {rest}";
    }

    /// <summary>Returns whether the log contains more than the closed map says. Then the map is an old copy.</summary>
    public static bool IsAhead(StorePlatform platform, LogFileSet files, Superblock* super)
    {
        LogBlock* block = &super->Log;
        if (block->LogId == 0 || files.Files.Count == 0)
        {
            return false;
        }

        LogFileState state = *StoreLog.StateOf(block, block->Current & 1);
        LogFileInfo last = files.Files[^1];
        bool isNext = block->Failed != 0 || last.Header.Sequence == state.Sequence + 1;
        if (isNext && last.Header.StartPosition == block->Tail && last.Header.SealedDurable <= block->Tail && !HasRecords(platform, last))
        {
            return false; // Its creator did not use it: an opening that failed (I3), or a process that died or had an error before the first record.
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

    /// <summary>Rebuilds an empty map in a store whose superblock says that it is being emptied (I2).</summary>
    /// <returns>The end of the log.</returns>
    public static LogEnd Rebuild(StoreEngine engine, StorePlatform platform, LogFileSet files, StoreOptions options)
    {
        LogBlock* block = &engine.Memory.Super->Log;
        var replay = new RecordReplay(engine, acceptsAll: false, progress: null, CancellationToken.None);
        LogEnd end = replay.Run(platform, files, LogPromise.Of(block));
        FlushLast(platform, files);
        *block = block->Emptied(files.All.First().Header.LogId);
        block->Checkpoint = files.Snapshot?.Header.StartPosition ?? 0;
        BeginPiece(engine, platform, files, end.Position, options);
        ProtocolHook.Reach(ProtocolStep.LogRebuilt);
        return end;
    }

    /// <summary>Returns the warning for the user about a piece with a torn end.</summary>
    public static string DescribeTorn(LogEnd end) =>
        $"The log's last file '{end.Torn}' ends with a record that is not whole. A loss of power leaves that of a write that had not returned. Only if the disk has " +
        "damaged what it had confirmed was it one that had.";

    /// <summary>Returns whether a valid map has logged collections, but no log to which new records can be appended.</summary>
    public static bool NeedsNewLog(StoreEngine engine, LogFileSet files)
    {
        LogBlock* block = &engine.Memory.Super->Log;
        return engine.IsAnyLogged()
            && (block->LogId == 0 || block->Failed != 0 || !files.IsUnbroken || !Has(files, *StoreLog.StateOf(block, block->Current & 1)));
    }

    /// <summary>Records that the map has no log, before a new log is created.</summary>
    public static void RecordMissingLog(StoreMemory memory)
    {
        LogBlock* block = &memory.Super->Log;
        if (block->LogId == 0)
        {
            block->LogId = RandomBits.Next();
            block->Tail = LogPath.FirstPosition;
        }

        block->Failed = LogBlock.NoLog;
    }

    /// <summary>
    /// Writes a snapshot of a valid map that no other process has open. Then begins a new piece of the log behind the snapshot.
    /// </summary>
    public static void Establish(StoreEngine engine, StorePlatform platform, LogFileSet files, StoreOptions options)
    {
        LogBlock* block = &engine.Memory.Super->Log;
        RecordMissingLog(engine.Memory);
        using var checkpointer = new Checkpointer(engine, platform, options.TimeProvider);
        block->Checkpoint = checkpointer.RunAlone(isWritten: false, progress: null, CancellationToken.None);
        BeginPiece(engine, platform, files, block->Tail, options);
        ProtocolHook.Reach(ProtocolStep.LogEstablished);
        engine.Memory.FlushSuperblock(); // LogBlock I5 requires it.
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

    // The new piece promises that everything before it is durable (LogBlock I5). After a loss of power it is. But a map can also be older than the log, and
    // the last record of that log can be one whose flush never came. Earlier pieces were flushed before the next one began.
    private static void FlushLast(StorePlatform platform, LogFileSet files)
    {
        if (files.Files.Count > 0)
        {
            using StoreFile last = platform.Open(files.Files[^1].Path);
            last.FlushData();
        }
    }

    private static void BeginPiece(StoreEngine engine, StorePlatform platform, LogFileSet files, long position, StoreOptions options)
    {
        LogBlock* block = &engine.Memory.Super->Log;
        block->File0 = LogFiles.Create(
            platform, engine.Memory, block->LogId, Math.Max(files.HighestSequence, Math.Max(block->File0.Sequence, block->File1.Sequence)) + 1, position, options.LogFileBytes,
            options.TimeProvider.GetUtcNow().ToUnixTimeMilliseconds());
        block->File1 = default;
        block->Current = 0;
        block->Tail = position;
        block->Durable = position;
        block->DurableMark = LogMark.OfPosition(position);
    }
}
