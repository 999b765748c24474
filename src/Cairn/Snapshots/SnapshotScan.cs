using Cairn.Concurrency;
using Cairn.Engine;
using Cairn.WriteAhead;

namespace Cairn.Snapshots;

// The common part of a snapshot and a backup. At one moment without writers, the collections are copied and the position of the log is noted. Then the
// entries are copied while other operations continue.
//
//   I1  Every record below Start was published before the first entry is copied. So an entry without a record from Start on is copied exactly. For any
//       other entry the copy does not matter, because its last record from Start on determines the result.
//   I2  Every copied change has a record below the log's tail after the last copy. So the log must be durable up to that tail. Otherwise the snapshot
//       could contain changes that a loss of power has undone.
internal sealed unsafe class SnapshotScan
{
    private const long ProgressStepBuckets = 1024;

    private readonly StoreEngine _engine;
    private readonly byte[] _collections;
    private readonly Func<CollectionRecord, bool> _isChosen;
    private byte[] _buffer = new byte[64 * 1024];

    private SnapshotScan(StoreEngine engine, byte[] collections, long start, Func<CollectionRecord, bool> isChosen)
    {
        _engine = engine;
        _collections = collections;
        _isChosen = isChosen;
        Start = start;
    }

    /// <summary>Gets the position of the log when the collections were copied.</summary>
    public long Start { get; }

    /// <summary>Gets <see cref="LogBlock.Wanted"/> at that moment.</summary>
    public uint Wanted { get; private init; }

    public long Records { get; private set; }

    public long Entries { get; private set; }

    /// <summary>Begins a scan. It stops all writers for the moment in which the position of the log is noted.</summary>
    /// <exception cref="StoreException">A stopped process holds a lock.</exception>
    public static SnapshotScan Begin(StoreEngine engine, Func<CollectionRecord, bool> isChosen)
    {
        StoreMemory memory = engine.Memory;
        var hold = new PartitionHold(memory.PartitionCount);
        hold.AddAll();
        if (!engine.TryHold(hold))
        {
            throw new StoreException(
                $"The store '{memory.File.Path}' could not be copied, because a stopped process holds one of its locks. Continue or end that process.");
        }

        try
        {
            byte[] collections = new ReadOnlySpan<byte>(
                memory.CollectionRecord(0), StoreLayout.MaxCollections * StoreLayout.CollectionRecordBytes).ToArray();
            LogBlock* log = &memory.Super->Log;
            return new SnapshotScan(engine, collections, Volatile.Read(ref log->Tail), isChosen) { Wanted = log->Wanted };
        }
        finally
        {
            engine.EndHold(hold);
        }
    }

    /// <summary>Writes the definitions of the chosen collections, and their entries.</summary>
    /// <param name="writer">The writer of the file.</param>
    /// <param name="withStoreItself">True to copy the default collection too, which has no definition.</param>
    /// <param name="progress">Receives the progress from time to time.</param>
    /// <param name="cancellationToken">Ends the copy.</param>
    public void Write(
        RecordFileWriter writer, bool withStoreItself, IProgress<StoreProgress>? progress, CancellationToken cancellationToken)
    {
        bool[] isChosen = WriteDefinitions(writer);
        isChosen[0] = withStoreItself;
        EntryCopier copier = (collection, entry) =>
        {
            writer.Append(LogKind.Put, collection, entry);
            Records++;
            Entries++;
        };
        Func<uint, bool> choose = collection => isChosen[collection];
        StoreLayout layout = _engine.Memory.Layout;
        long bytesPerBucket = _engine.Memory.SegmentCount * (long)layout.SegmentBytes / Math.Max(1, _engine.BucketCount);
        for (long bucket = 0; bucket < _engine.BucketCount; bucket++)
        {
            if (bucket % ProgressStepBuckets == 0)
            {
                cancellationToken.ThrowIfCancellationRequested();
                progress?.Report(new StoreProgress("copying", bucket * bytesPerBucket, _engine.BucketCount * bytesPerBucket));
            }

            _engine.CopyBucket(bucket, choose, ref _buffer, copier);
        }

        progress?.Report(new StoreProgress("copying", _engine.BucketCount * bytesPerBucket, _engine.BucketCount * bytesPerBucket));
    }

    /// <summary>Writes the last record.</summary>
    public void WriteEnd(RecordFileWriter writer, long records, long logPosition, long logSequence = 0)
    {
        var end = new SnapshotEnd { Records = records, Entries = Entries, LogPosition = logPosition, LogSequence = logSequence };
        writer.Append(LogKind.SnapshotEnd, 0, new ReadOnlySpan<byte>(&end, sizeof(SnapshotEnd)));
    }

    private bool[] WriteDefinitions(RecordFileWriter writer)
    {
        var isChosen = new bool[StoreLayout.MaxCollections];
        for (int number = 1; number < StoreLayout.MaxCollections; number++)
        {
            ReadOnlySpan<byte> bytes = _collections.AsSpan(number * StoreLayout.CollectionRecordBytes, StoreLayout.CollectionRecordBytes);
            var record = System.Runtime.InteropServices.MemoryMarshal.Read<CollectionRecord>(bytes);
            if (record.NameBytes != 0 && _isChosen(record))
            {
                isChosen[number] = true;
                writer.Append(LogKind.CollectionDefined, (uint)number, bytes);
                Records++;
            }
        }

        return isChosen;
    }
}
