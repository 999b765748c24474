using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Platform;
using Cairn.Steps;
using Cairn.WriteAhead;

namespace Cairn.Snapshots;

// Writes a snapshot of the logged collections, so that the log before it can be deleted.
//
//   one at a time --> all partitions for a moment: Start --> entries copied --> log durable up to its tail --> snapshot durable, named,
//   name durable --> pieces of the log wholly below Start deleted
//
//   I1  At every moment the disk has either a snapshot and all of the log from its Start on, or all of the log.
//   I2  If a process dies during the checkpoint, the earlier snapshot and a longer log remain. No other file remains, because the new snapshot has no
//       name yet.
internal sealed unsafe class Checkpointer : IDisposable
{
    // The byte follows the bytes of the gate and of the owner slots.
    private const long LockByte = OwnerTable.GateByte + StoreLayout.MaxOwners + 1;

    private const int PauseMs = 10_000;

    private static readonly TimeSpan WaitStep = TimeSpan.FromMilliseconds(100);

    private readonly StoreEngine _engine;
    private readonly TimeProvider _clock;
    private readonly SemaphoreSlim _own = new(1);
    private readonly CancellationTokenSource _stopping = new();
    private long _failedAt;

    public Checkpointer(StoreEngine engine, StorePlatform platform, TimeProvider clock)
    {
        _engine = engine;
        Platform = platform;
        _clock = clock;
    }

    public StorePlatform Platform { get; }

    public StoreEngine Engine => _engine;

    /// <summary>Gets the reason why the last snapshot in the background failed. Null if it did not fail.</summary>
    public string? LastFailure { get; private set; }

    private StoreMemory Memory => _engine.Memory;

    private LogBlock* Block => &Memory.Super->Log;

    private string StorePath => Memory.File.Path;

    /// <summary>Writes a snapshot of the present content of the store. If another checkpoint is running, waits for its end first.</summary>
    public void Run(IProgress<StoreProgress>? progress, CancellationToken cancellationToken) =>
        Alone(token => RunAlone(isWritten: true, progress, token), cancellationToken);

    /// <summary>Runs an action while no process writes a snapshot or deletes a log file.</summary>
    public T Alone<T>(Func<CancellationToken, T> action, CancellationToken cancellationToken)
    {
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _stopping.Token);
        try
        {
            _own.Wait(linked.Token);
            try
            {
                while (!Memory.File.LockByte(LockByte, WaitStep))
                {
                    linked.Token.ThrowIfCancellationRequested();
                }

                try
                {
                    return action(linked.Token);
                }
                finally
                {
                    Memory.File.UnlockByte(LockByte);
                }
            }
            finally
            {
                _own.Release();
            }
        }
        catch (OperationCanceledException stopped) when (!cancellationToken.IsCancellationRequested)
        {
            throw new ObjectDisposedException("The store was closed meanwhile.", stopped);
        }
    }

    /// <summary>Writes a snapshot in the background, if one is due and this opening is not writing one.</summary>
    /// <param name="leastBytes">The minimum length of the log in bytes.</param>
    public void RunIfDue(long leastBytes)
    {
        if (leastBytes != long.MaxValue && _own.CurrentCount > 0 && IsDue(leastBytes) && (_failedAt == 0 || Environment.TickCount64 - _failedAt > PauseMs))
        {
            // The checkpoint gets a thread of its own, because it can take seconds.
            if (!BackgroundThread.TryStart("Cairn snapshot", TryRun))
            {
                NoteFailure("The system refuses another thread. Check the limits of processes and memory.");
            }
        }
    }

    /// <summary>Cancels the running checkpoint and prevents new ones.</summary>
    public void Stop()
    {
        _stopping.Cancel();
        _own.Wait(CancellationToken.None);
    }

    private void TryRun()
    {
        if (_stopping.IsCancellationRequested || !_own.Wait(0, CancellationToken.None))
        {
            return;
        }

        try
        {
            if (Memory.File.TryLockByte(LockByte))
            {
                try
                {
                    RunAlone(isWritten: true, progress: null, _stopping.Token);
                }
                finally
                {
                    Memory.File.UnlockByte(LockByte);
                }
            }
        }
#pragma warning disable CA1031 // Whatever the failure is, the log is complete without the snapshot.
        catch (Exception failure)
#pragma warning restore CA1031
        {
            if (!_stopping.IsCancellationRequested)
            {
                NoteFailure(failure.Message);
            }
        }
        finally
        {
            _own.Release();
        }
    }

    // No caller waits for this checkpoint, so the failure is reported instead of thrown. The log is kept and grows. The next attempt follows after a pause.
    private void NoteFailure(string reason)
    {
        Interlocked.Increment(ref Block->FailedCheckpoints);
        LastFailure = reason;
        _failedAt = Environment.TickCount64;
        _engine.Failures.Report("Writing a snapshot of the store", reason);
    }

    /// <summary>Returns whether a snapshot is worthwhile, because the log is long compared with the data that it protects.</summary>
    public bool IsDue(long leastBytes)
    {
        LogBlock* block = Block;
        if (Volatile.Read(ref block->LogId) == 0 || Volatile.Read(ref block->Failed) != 0)
        {
            return false;
        }

        if (Volatile.Read(ref block->Wanted) != block->Served)
        {
            return true;
        }

        long bytes = Volatile.Read(ref block->Tail) - Math.Max(LogPath.FirstPosition, Volatile.Read(ref block->Checkpoint));
        return bytes > leastBytes && bytes > LoggedBytes();
    }

    /// <summary>Writes a snapshot. The caller ensures that no other checkpoint runs.</summary>
    /// <param name="isWritten">
    /// True if other processes can write meanwhile. If false, the log need not be durable, and its old pieces are not deleted.
    /// </param>
    /// <param name="progress">Receives the progress from time to time.</param>
    /// <param name="cancellationToken">Ends the checkpoint. Nothing of it remains.</param>
    /// <returns>The position from which the log completes the snapshot.</returns>
    public long RunAlone(bool isWritten, IProgress<StoreProgress>? progress, CancellationToken cancellationToken)
    {
        ulong logId = Volatile.Read(ref Block->LogId);
        if (logId == 0)
        {
            return 0; // No collection is logged.
        }

        ProtocolHook.Reach(ProtocolStep.CheckpointStarted);
        SnapshotScan scan = SnapshotScan.Begin(_engine, static record => record.IsLogged);
        string path = LogPath.Snapshot(StorePath);
        string directory = Path.GetDirectoryName(path)!;
        using (StoreFile file = Platform.CreateUnnamed(directory, Path.GetFileName(path)))
        {
            var writer = new RecordFileWriter(
                file, LogFileKind.Snapshot, logId, scan.Start, _clock.GetUtcNow().ToUnixTimeMilliseconds(), LogFiles.KeyBlockOf(Memory));
            scan.Write(writer, withStoreItself: false, progress, cancellationToken);
            long end = isWritten ? _engine.WriteAhead.Tail : scan.Start;
            if (isWritten)
            {
                _engine.WriteAhead.Wait(end, isUrgent: true); // SnapshotScan I2 requires it.
            }

            scan.WriteEnd(writer, scan.Records, end, isWritten ? _engine.WriteAhead.Sequence : 0);
            ProtocolHook.Reach(ProtocolStep.CheckpointCopied);
            writer.Finish();
            file.KeepPermissionsOf(StorePath);
            ProtocolHook.Reach(ProtocolStep.CheckpointFlushed);
            file.TryPublish(path, replace: true);
        }

        ProtocolHook.Reach(ProtocolStep.CheckpointNamed);
        Platform.FlushDirectory(directory);
        Volatile.Write(ref Block->SnapshotMark, LogMark.OfPosition(scan.Start));
        if (isWritten)
        {
            LastFailure = null;
            _failedAt = 0;
            Volatile.Write(ref Block->FailedCheckpoints, 0);
            Volatile.Write(ref Block->Checkpoint, scan.Start);
            Block->Served = scan.Wanted;
            Memory.FlushSuperblock(); // LogBlock I5 requires it.
            DeleteBelow(scan.Start);
        }

        GC.KeepAlive(_engine);
        return scan.Start;
    }

    /// <summary>
    /// Deletes the pieces of the log that a snapshot has replaced. A piece ends where the next one begins. The last piece always stays.
    /// </summary>
    public void DeleteBelow(long position)
    {
        IReadOnlyList<LogFileInfo> files = LogFileSet.Find(Platform, StorePath).Files;
        for (int i = 0; i + 1 < files.Count && files[i + 1].Header.StartPosition <= position; i++)
        {
            ProtocolHook.Reach(ProtocolStep.LogFileDeleting);
            Platform.Delete(files[i].Path);
        }
    }

    public void Dispose()
    {
        _own.Dispose();
        _stopping.Dispose();
    }

    private long LoggedBytes()
    {
        long bytes = 0;
        for (uint collection = 1; collection < StoreLayout.MaxCollections; collection++)
        {
            for (int number = 0; _engine.IsLogged(collection) && number < Memory.PartitionCount; number++)
            {
                bytes += Math.Max(0, Volatile.Read(ref PartitionBlock.CollectionCounters(Memory.Partition(number), collection)[1]));
            }
        }

        return bytes;
    }
}
