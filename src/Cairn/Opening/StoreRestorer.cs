using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Platform;
using Cairn.Snapshots;
using Cairn.WriteAhead;

namespace Cairn.Opening;

// Creates a new store from a backup, or from the remains of a store: its snapshot and log.
//
//   new file, without a name --> everything read into it --> durable, marked as closed --> named
//
//   I1  Until the last step no file of that name exists, nor any other file. The new store has no log yet. It is closed, and the first opening creates a
//       log before anything else, if a collection is logged (LogOpening I3).
internal static unsafe class StoreRestorer
{
    /// <summary>Creates the store.</summary>
    /// <param name="backupPath">A backup, or the snapshot or a log file of a lost store.</param>
    /// <param name="options">The options of the new store.</param>
    /// <param name="salvages">True to leave out and report damaged parts. False to refuse a damaged file.</param>
    /// <param name="progress">Receives the progress from time to time.</param>
    /// <param name="cancellationToken">Ends the restore.</param>
    public static RestoreReport Restore(
        string backupPath, StoreOptions options, bool salvages, IProgress<StoreProgress>? progress, CancellationToken cancellationToken)
    {
        long started = Stopwatch.GetTimestamp();
        StorePlatform platform = HostPlatform.Current;
        string path = Path.GetFullPath(options.Path);
        platform.RequireSupportedFileSystem(path);
        RefuseTaken(platform, path);
        var leftOut = new List<string>();
        Action<StoreCorruptException>? onDamage = salvages ? damage => leftOut.Add(Describe(damage)) : null;
        LogFileSet? log = FindLog(platform, backupPath, onDamage);
        LogFileInfo backup = log?.All.FirstOrDefault() ?? ReadHeader(platform, backupPath);
        StoreLayout layout = StoreFormatter.Plan(options, out int segments);
        using StoreFile target = StoreFormatter.CreateUnpublished(platform, path, layout, segments, options.TimeProvider, RandomBits.Next(), KeyOf(backup, options));
        var memory = new StoreMemory(target, target.Map(layout.MappedBytes, writable: true), layout);
        var engine = new StoreEngine(memory, platform, new StoreClock(options.TimeProvider, platform), options.LockTimeout, default);
        if (!engine.Owners.TryTakeSlot())
        {
            throw new InvalidOperationException("A file without a name has owners.");
        }

        engine.Owners.Announce(engine.Clock.NowMs());
        var replay = new RecordReplay(engine, acceptsAll: true, progress, cancellationToken, onDamage);
        if (log is null)
        {
            replay.Run(platform, backup);
        }
        else
        {
            LogEnd end = replay.Run(platform, log, LogPromise.OfFile(platform, log.StorePath, backup.Header.LogId));
            if (end.Torn is not null)
            {
                leftOut.Add(LogOpening.DescribeTorn(end));
            }
        }

        if (replay.EntriesWithoutCollection > 0)
        {
            leftOut.Add($"{replay.EntriesWithoutCollection:N0} entries of collections whose definition is damaged or missing");
        }

        progress?.Report(new StoreProgress("writing to disk", 0, layout.FileBytes(memory.SegmentCount)));
        engine.Close(releaseSlot: () => { }); // The slot is released below, when everything is durable.
        long entries = 0;
        for (int number = 0; number < memory.PartitionCount; number++)
        {
            PartitionBlock* partition = memory.Partition(number);
            entries += partition->Entries;
            partition->Sets = 0;
            partition->Removals = 0;
        }

        StoreOpener.FlushAndMark(memory);
        engine.Owners.ReleaseSlot();
        cancellationToken.ThrowIfCancellationRequested();
        if (!platform.TryPublish(target, path, replace: false, "The restored store"))
        {
            throw Taken(path);
        }

        long bytes = target.Length;
        progress?.Report(new StoreProgress("writing to disk", bytes, bytes));
        GC.KeepAlive(memory);
        return new RestoreReport { Path = path, Entries = entries, Bytes = bytes, LeftOut = leftOut, Duration = Stopwatch.GetElapsedTime(started) };
    }

    private static void RefuseTaken(StorePlatform platform, string path)
    {
        IReadOnlyList<string> names = platform.ListNames(Path.GetDirectoryName(path)!, Path.GetFileName(path));
        if (names.Contains(Path.GetFileName(path), StringComparer.Ordinal))
        {
            throw Taken(path);
        }

        names = LogFileSet.Names(platform, path);
        if (names.Count > 0)
        {
            throw new StoreException(
                $"Beside '{path}' are the files of a log, which would become those of the new store: {string.Join(", ", names)}. Name another store, or " +
                "move them away.");
        }
    }

    private static StoreException Taken(string path) =>
        new($"There is a file '{path}' already. Restore the backup to another path, or move that file, and the files of its log, away.");

    // Returns the log to which a file belongs, with the snapshot. Null if the file is a backup.
    private static LogFileSet? FindLog(StorePlatform platform, string path, Action<StoreCorruptException>? onDamage)
    {
        string? store = LogPath.StoreOf(path);
        LogFileInfo? info = LogFileSet.TryReadHeader(platform, path);
        if (info is null ? store is null || onDamage is null : info.Header.Kind == LogFileKind.Backup)
        {
            return null;
        }

        return LogFileSet.Find(
            platform,
            store ?? throw new StoreException(
                $"The file '{path}' belongs to the log of a store, or is its snapshot, but its name does not name the store. Restore its original name."),
            onDamage);
    }

    private static LogFileInfo ReadHeader(StorePlatform platform, string path) =>
        LogFileSet.TryReadHeader(platform, path) ?? throw StoreCorruptException.NotABackup(path);

    private static string Describe(StoreCorruptException damage) => $"{damage.File}, from byte {damage.Offset:N0}: expected {damage.Expected}, found {damage.Found}";

    // Returns the key block that decrypts the entries, which stay encrypted. A key in the options is only checked.
    private static KeyBlock? KeyOf(LogFileInfo backup, StoreOptions options)
    {
        var super = default(Superblock);
        LogFileHeader header = backup.Header;
        new ReadOnlySpan<byte>(header.KeyBlock, LogFileHeader.KeyBlockBytes).CopyTo(
            new Span<byte>((byte*)&super + LogFileHeader.KeyBlockOffset, LogFileHeader.KeyBlockBytes));
        super.RequiredFeatures = Superblock.FeatureEncryption;
        KeyBlock? key = StoreKeys.Find(&super);
        if (options.Encryption is not null)
        {
            super.RequiredFeatures = key is null ? 0 : super.RequiredFeatures;
            StoreKeys.Unlock(&super, backup.Path, options.Encryption)?.Dispose();
        }

        return key;
    }
}
