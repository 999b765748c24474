using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.Platform;
using Cairn.Steps;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Snapshots;

// Makes a snapshot of the logged collections, so that the log before it can go.
//
//   one at a time --> all partitions for a moment: Start --> entries copied --> log durable up to its tail --> snapshot on disk, named,
//   name on disk --> pieces of the log wholly below Start deleted
//
//   I1  At every moment the disk has a snapshot with all of the log from its Start on, or all of the log.
//   I2  Whoever dies on the way leaves the earlier snapshot and a log that is longer than need be, and nothing else: the new one has no name.
internal sealed unsafe class Checkpointer : IDisposable
{
    // Behind the gate and the owner slots.
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

    /// <summary>Why the last snapshot in the background was not made; null if it was.</summary>
    public string? LastFailure { get; private set; }

    private StoreMemory Memory => _engine.Memory;

    private LogBlock* Block => &Memory.Super->Log;

    private string StorePath => Memory.File.Path;

    /// <summary>Makes a snapshot of everything that is in the store now; waits for one that somebody is making.</summary>
    public void Run(IProgress<StoreProgress>? progress, CancellationToken cancellationToken) =>
        Alone(token => RunAlone(isWritten: true, progress, token), cancellationToken);

    /// <summary>Does something while no snapshot is being made, and no file of the log deleted, by anybody.</summary>
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

    /// <summary>Makes a snapshot in the background if one is due, and nobody is making one.</summary>
    /// <param name="leastBytes">How long the log must be.</param>
    public void RunIfDue(long leastBytes)
    {
        if (leastBytes != long.MaxValue && _own.CurrentCount > 0 && IsDue(leastBytes) && (_failedAt == 0 || Environment.TickCount64 - _failedAt > PauseMs))
        {
            // A thread of its own: it may take seconds.
            _ = Task.Factory.StartNew(TryRun, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        }
    }

    /// <summary>Ends what is being made, and lets nothing begin any more.</summary>
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
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or OperationCanceledException or ObjectDisposedException)
        {
            // Nobody is waiting for it. The log is kept, and grows; the next attempt comes after a pause.
            if (!_stopping.IsCancellationRequested)
            {
                Interlocked.Increment(ref Block->FailedCheckpoints);
                LastFailure = failure.Message;
                _failedAt = Environment.TickCount64;
            }
        }
        finally
        {
            _own.Release();
        }
    }

    /// <summary>Whether the log is long enough, compared with what it protects, that a snapshot is worth it.</summary>
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

    /// <summary>Makes a snapshot while nobody else does.</summary>
    /// <param name="isWritten">Whether others may write meanwhile. If not, the log need not be on the disk, and is not shortened.</param>
    /// <param name="progress">Told now and then.</param>
    /// <param name="cancellationToken">Ends it; nothing of it stays.</param>
    /// <returns>Where the log completes it.</returns>
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
                _engine.WriteAhead.Wait(end, isUrgent: true); // SnapshotScan I2
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
            Memory.Region.Flush(0, StoreLayout.SuperblockBytes); // LogBlock I5
            DeleteBelow(scan.Start);
        }

        GC.KeepAlive(_engine);
        return scan.Start;
    }

    /// <summary>Deletes the pieces of the log that a snapshot has made needless. A piece ends where the next one begins; the last stays.</summary>
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
