using System.Buffers;
using Cairn.Engine;
using Cairn.Protocol;

namespace Cairn.Server.Resp;

// MULTI queues requests as they came; EXEC reads them again and executes them while it holds the partitions of their keys, so
// that no writer of any process comes in between. What WATCH saw is compared under the same locks:
//
//   a key that was there      its version is still the same
//   a key that was not there  it still is not, and was not written meanwhile, which the partition's ring of changes tells
//
// A ring that has come around since, and a partition whose ring was lost, count as changes.
internal sealed partial class RespSession
{
    private const int KeptQueueBytes = 64 << 10;

    private readonly List<WatchedKey> _watched = [];
    private ArrayBufferWriter<byte>? _queued;
    private RespRequestReader? _queuedReader;
    private bool _isTransactionBroken;
    private bool _isExecutingQueue;

    /// <summary>Between MULTI and EXEC.</summary>
    public bool IsInTransaction { get; private set; }

    /// <summary>Requests queued since MULTI.</summary>
    public int QueuedCount { get; private set; }

    public int WatchedCount => _watched.Count;

    public void BeginTransaction() => IsInTransaction = true;

    /// <summary>Forgets the queue, and what was watched.</summary>
    public void EndTransaction()
    {
        IsInTransaction = false;
        _isTransactionBroken = false;
        QueuedCount = 0;
        _queued = _queued?.Capacity > KeptQueueBytes ? null : _queued;
        _queued?.ResetWrittenCount();
        _watched.Clear();
    }

    public void Unwatch() => _watched.Clear();

    public void Watch(ReadOnlySpan<byte> key)
    {
        foreach (WatchedKey watched in _watched)
        {
            if (key.SequenceEqual(watched.Key))
            {
                return;
            }
        }

        // The ring's place first: what is written after it shows, there or in the version.
        int partition = Keys.PartitionOf(key);
        InvalidationCursor cursor = Server.Store.GetInvalidationCursor(partition);
        Keys.TryGetInfo(key, out EntryInfo info);
        _watched.Add(new WatchedKey(key.ToArray(), partition, Server.Store.HashOf(key), cursor, info.Version));
    }

    /// <summary>Executes what was queued, if nothing watched has changed, and writes the reply.</summary>
    public void ExecuteTransaction(ref RespWriter writer)
    {
        if (_isTransactionBroken)
        {
            EndTransaction();
            writer.WriteError("EXECABORT Transaction discarded because of previous errors."u8);
            return;
        }

        ReadOnlySpan<byte> queued = _queued is null ? default : _queued.WrittenSpan;
        if (!TryHoldTransaction(queued))
        {
            EndTransaction();
            writer.WriteError("EXECABORT Transaction discarded because a part of the store is held by a process that does not run."u8);
            return;
        }

        try
        {
            if (!IsWatchedUnchanged())
            {
                writer.WriteNullArray();
                return;
            }

            IsInTransaction = false;
            _isExecutingQueue = true;
            writer.WriteArrayHeader(QueuedCount);
            RespRequestReader reader = QueueReader();
            while (reader.TryRead(queued, out RespRequest request, out int length) == ParseStatus.Complete)
            {
                Dispatch(command: null, new RespArguments(reader, queued, request), queued[..length], ref writer);
                queued = queued[length..];
            }
        }
        finally
        {
            _isExecutingQueue = false;
            EndHold();
            EndTransaction();
        }
    }

    private void Queue(ReadOnlySpan<byte> request, ref RespWriter writer)
    {
        _queued ??= new ArrayBufferWriter<byte>();
        _queued.Write(request);
        QueuedCount++;
        writer.WriteSimple("QUEUED"u8);
    }

    // A request that cannot be executed breaks the transaction it was to be part of.
    private void BreakTransaction() => _isTransactionBroken |= IsInTransaction;

    private RespRequestReader QueueReader()
    {
        _queuedReader ??= new RespRequestReader();
        _queuedReader.Reset();
        return _queuedReader;
    }

    private bool TryHoldTransaction(ReadOnlySpan<byte> queued)
    {
        PartitionHold hold = _hold ??= new PartitionHold(Server.Store.PartitionCount);
        hold.Clear();
        foreach (WatchedKey watched in _watched)
        {
            hold.Add(watched.Partition);
        }

        RespRequestReader reader = QueueReader();
        while (reader.TryRead(queued, out RespRequest request, out int length) == ParseStatus.Complete)
        {
            AddKeys(hold, new RespArguments(reader, queued, request));
            queued = queued[length..];
        }

        // With no keys nothing need be held, and an inner hold would not be noticed.
        _holdDepth = Keys.Engine.TryHold(hold) ? 1 : 0;
        return _holdDepth == 1;
    }

    private void AddKeys(PartitionHold hold, scoped in RespArguments arguments)
    {
        CommandInfo? command = CommandTable.Find(arguments[0]);
        if (command is { Subcommands.Length: > 0 } && arguments.Count > 1)
        {
            command = command.FindSubcommand(arguments[1]);
        }

        if (command is null)
        {
            return;
        }

        if ((command.Flags & CommandFlags.AllKeys) != 0 && (command.Flags & CommandFlags.Write) != 0)
        {
            hold.AddAll();
        }
        else if (command.FirstKey > 0)
        {
            int last = command.LastKeyOf(arguments.Count);
            for (int i = command.FirstKey; i <= last; i += command.KeyStep)
            {
                hold.Add(Keys.PartitionOf(arguments[i]));
            }
        }
    }

    private bool IsWatchedUnchanged()
    {
        Span<ulong> hashes = stackalloc ulong[64];
        foreach (WatchedKey watched in _watched)
        {
            Keys.TryGetInfo(watched.Key, out EntryInfo info);
            if (info.Version != watched.Version)
            {
                return false;
            }

            InvalidationCursor cursor = watched.Cursor;
            while (watched.Version == 0)
            {
                InvalidationStatus status = Server.Store.ReadInvalidations(watched.Partition, ref cursor, hashes, out int count);
                if (status == InvalidationStatus.None)
                {
                    break;
                }

                if (status == InvalidationStatus.Overrun || hashes[..count].Contains(watched.Hash))
                {
                    return false;
                }
            }
        }

        return true;
    }

    private readonly record struct WatchedKey(byte[] Key, int Partition, ulong Hash, InvalidationCursor Cursor, ulong Version);
}
