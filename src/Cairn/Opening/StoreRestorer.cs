using System.Diagnostics;
using Cairn.Encryption;
using Cairn.Engine;
using Cairn.Platform;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Opening;

// Makes a new store from a backup, or from what is left of one: its snapshot and log.
//
//   new file, without a name --> everything read into it --> on disk, marked as closed --> named
//
//   I1  Until the last step there is no file of that name, nor any other. The store has no log yet: it is closed, and whoever opens it first makes one,
//       if collections want it, before anything else (LogOpening I3).
internal static unsafe class StoreRestorer
{
    public static RestoreReport Restore(
        string backupPath, StoreOptions options, IProgress<StoreProgress>? progress, CancellationToken cancellationToken)
    {
        long started = Stopwatch.GetTimestamp();
        StorePlatform platform = StorePlatform.Current;
        string path = Path.GetFullPath(options.Path);
        platform.RequireSupportedFileSystem(path);
        RefuseTaken(platform, path);
        LogFileInfo backup = ReadHeader(platform, backupPath, out string? lostStore);
        StoreLayout layout = StoreFormatter.Plan(options, out int segments);
        using StoreFile target = StoreFormatter.CreateUnpublished(platform, path, layout, segments, options.Clock, RandomBits.Next(), KeyOf(backup, options));
        var memory = new StoreMemory(target, target.Map(layout.MappedBytes, writable: true), layout);
        var engine = new StoreEngine(memory, platform, new StoreClock(options.Clock), options.LockTimeout, default);
        if (!engine.Owners.TryTakeSlot())
        {
            throw new InvalidOperationException("A file without a name has owners.");
        }

        engine.Owners.Announce(engine.Clock.NowMs());
        var replay = new RecordReplay(engine, acceptsAll: true, progress, cancellationToken);
        if (lostStore is null)
        {
            replay.Run(platform, backup);
        }
        else
        {
            replay.Run(platform, LogFileSet.Find(platform, lostStore));
        }

        progress?.Report(new StoreProgress("writing to disk", 0, layout.FileBytes(memory.SegmentCount)));
        engine.Close(giveAwaySlot: () => { }); // Below, when everything is on disk.
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
        if (!target.TryPublish(path, replace: false))
        {
            throw Taken(path);
        }

        platform.FlushDirectory(Path.GetDirectoryName(path)!);
        long bytes = target.Length;
        progress?.Report(new StoreProgress("writing to disk", bytes, bytes));
        GC.KeepAlive(memory);
        return new RestoreReport { Path = path, Entries = entries, Bytes = bytes, Duration = Stopwatch.GetElapsedTime(started) };
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

    private static LogFileInfo ReadHeader(StorePlatform platform, string path, out string? lostStore)
    {
        using LogReader? reader = LogReader.TryOpen(platform.OpenReadOnly(path), ownsFile: true);
        if (reader is null)
        {
            throw StoreCorruptException.NotABackup(path);
        }

        if (reader.Header.FormatVersion != LogFileHeader.CurrentVersion)
        {
            throw new StoreVersionException(path, reader.Header.FormatVersion, LogFileHeader.CurrentVersion);
        }

        lostStore = reader.Header.Kind == LogFileKind.Backup ? null
            : LogPath.StoreOf(path) ?? throw new StoreException(
                $"The file '{path}' is of the log of a store, or its snapshot, but its name does not say of which. Give it its name back.");
        return new LogFileInfo(path, reader.Header);
    }

    // What opens the entries if they are encrypted, which they stay. A key that is given is only checked.
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
            _ = StoreKeys.Unlock(&super, backup.Path, options.Encryption);
        }

        return key;
    }
}
