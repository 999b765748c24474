using Cairn.Engine;
using Cairn.Platform;
using Cairn.WriteAhead;

namespace Cairn.Snapshots;

// Writes a backup: the entries of a snapshot, followed by the log records from the snapshot's beginning to the end of the copy. So the backup has the
// logged collections as they were at that end.
//
//   I1  No process deletes log files meanwhile. The caller ensures it (Checkpointer.Alone).
internal sealed unsafe class BackupWriter(StoreEngine engine, StorePlatform platform, TimeProvider clock)
{
    public BackupReport Write(string path, BackupOptions options, IProgress<StoreProgress>? progress, CancellationToken cancellationToken)
    {
        long started = Stopwatch.GetTimestamp();
        StoreMemory memory = engine.Memory;
        RequireOther(path);
        string directory = Path.GetDirectoryName(path)!;
        using StoreFile file = platform.CreateUnnamed(directory, Path.GetFileName(path));
        ulong logId = memory.Super->Log.LogId;
        var writer = new RecordFileWriter(
            file, LogFileKind.Backup, logId == 0 ? memory.Super->StoreId : logId, LogPath.FirstPosition,
            clock.GetUtcNow().ToUnixTimeMilliseconds(), LogFiles.KeyBlockOf(memory));

        SnapshotScan scan = SnapshotScan.Begin(engine, record => !options.OnlyKept || record.Region == StoreRegion.Keep);
        scan.Write(writer, withStoreItself: !options.OnlyKept, progress, cancellationToken);
        long changes = 0;
        long end = engine.WriteAhead.Tail;
        if (logId != 0 && end > scan.Start)
        {
            LogFileSet files = LogFileSet.Find(platform, memory.File.Path);
            LogWalk.Read(platform, files, scan.Start, end, default, (in LogRecord record) =>
            {
                writer.Append(record.Kind, record.Collection, record.Body);
                changes++;
            });
        }

        scan.WriteEnd(writer, scan.Records + changes, end);
        progress?.Report(new StoreProgress("writing to disk", 0, writer.Bytes));
        writer.Finish();
        cancellationToken.ThrowIfCancellationRequested();
        platform.TryPublish(file, path, replace: true, "The backup");
        progress?.Report(new StoreProgress("writing to disk", writer.Bytes, writer.Bytes));
        GC.KeepAlive(engine);
        return new BackupReport
        {
            Path = path,
            Entries = scan.Entries,
            Changes = changes,
            Bytes = writer.Bytes,
            Duration = Stopwatch.GetElapsedTime(started),
        };
    }

    // A mistyped path must not replace the store by its own backup.
    private void RequireOther(string path)
    {
        StoreFile store = engine.Memory.File;
        if (path == store.Path || store.IsStillAt(path) || path == LogPath.Snapshot(store.Path) || LogPath.TryParse(store.Path, path, out _))
        {
            throw new ArgumentException($"The path '{path}' is that of the store itself, or of its log. Name another file for the backup.", nameof(path));
        }

        if (platform.IsSpecialFile(path))
        {
            throw FileFailures.NotARegularFile(path);
        }
    }
}
