using Cairn.Engine;
using Cairn.Protocol;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp;

// MULTI queues requests as they came; EXEC reads them again and executes them while it holds the partitions of their keys, so
// that no writer of any process comes in between. What WATCH saw is compared under the same locks:
//
//   a key that was there      its version is still the same
//   a key that was not there  it still is not, and was not written meanwhile, which the partition's ring of changes tells
//
// A ring that has come around since, and a partition whose ring was lost, count as changes.
//
// Replies cannot wait for the client while partitions are held. So what is known of their length is added up first, and EXEC is refused
// before anything happens if that is more than may wait for a client, or waits until there is memory for it. Where replies
// become too long that could not be known, the connection ends there and then.
internal sealed partial class RespSession
{
    // What a watched key costs beyond its bytes.
    private const int WatchedKeyBytes = 160;

    // EXEC executes the whole queue in one turn, so it has a limit of its own: as many arguments as one request may have.
    private const int MostQueuedArguments = 1 << 20;

    private readonly List<WatchedKey> _watched = [];
    private Dictionary<ulong, int>? _watchedPlaces;
    private long _watchedBytes;
    private QueuedRequests? _queued;
    private int _queuedArguments;
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
        _queuedArguments = 0;
        _queued?.Clear();
        Unwatch();
    }

    public void Unwatch()
    {
        if (_watched.Count > 0)
        {
            _watched.Clear();
            _watched.Capacity = 0;
            _watchedPlaces = null;
            Peer.Held.Charge(-_watchedBytes);
            _watchedBytes = 0;
        }
    }

    public void Watch(ReadOnlySpan<byte> key)
    {
        ulong hash = Server.Store.HashOf(key);
        if (!(_watchedPlaces ??= []).TryAdd(hash, _watched.Count) && key.SequenceEqual(_watched[_watchedPlaces[hash]].Key))
        {
            return;
        }

        long bytes = key.Length + WatchedKeyBytes;
        Peer.Held.Charge(bytes);
        _watchedBytes += bytes;

        // The ring's place first: what is written after it shows, there or in the version.
        int partition = Keys.PartitionOf(key);
        InvalidationCursor cursor = Server.Store.GetInvalidationCursor(partition);
        Keys.TryGetInfo(key, out EntryInfo info);
        _watched.Add(new WatchedKey(key.ToArray(), partition, hash, cursor, info.Version));
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

        if (!TryHoldTransaction())
        {
            EndTransaction();
            writer.WriteError("EXECABORT Transaction discarded because a part of the store is held by a process that does not run."u8);
            return;
        }

        bool hasEnded = true;
        try
        {
            if (!IsWatchedUnchanged())
            {
                writer.WriteNullArray();
                return;
            }

            long known = IsSilent ? 0 : KnownReplyBytes();
            if (known > MaxReplyBytes)
            {
                writer.WriteError(Text.Bytes(
                    $"EXECABORT Transaction discarded because its replies would take more than {MaxReplyBytes} bytes (--max-waiting)."));
                return;
            }

            if (MustAwaitMemory(known, 1, ref writer))
            {
                hasEnded = false;
                return;
            }

            ExecuteQueue(ref writer);
        }
        finally
        {
            _isExecutingQueue = false;
            EndHold();
            if (hasEnded)
            {
                EndTransaction();
            }
        }
    }

    private void ExecuteQueue(ref RespWriter writer)
    {
        IsInTransaction = false;
        _isExecutingQueue = true;
        _isQueueOver = false;
        writer.WriteArrayHeader(QueuedCount);
        for (int block = 0; block < _queued?.BlockCount; block++)
        {
            ReadOnlySpan<byte> queued = _queued[block];
            RespRequestReader reader = QueueReader();
            while (reader.TryRead(queued, out RespRequest request, out int length) == ParseStatus.Complete)
            {
                Dispatch(command: null, new RespArguments(reader, queued, request), queued[..length], ref writer);
                if (_isQueueOver || EndQueueIfOver(0, ref writer))
                {
                    _isClosing = true;
                    Peer.Close(CloseReason.TooMuchOutput);
                    return;
                }

                queued = queued[length..];
            }
        }
    }

    // The lengths of the values that the queued requests ask for, as they are now.
    private long KnownReplyBytes()
    {
        long bytes = 0;
        for (int block = 0; block < _queued?.BlockCount && bytes <= MaxReplyBytes; block++)
        {
            ReadOnlySpan<byte> queued = _queued[block];
            RespRequestReader reader = QueueReader();
            while (reader.TryRead(queued, out RespRequest request, out int length) == ParseStatus.Complete)
            {
                var arguments = new RespArguments(reader, queued, request);
                CommandInfo? command = CommandTable.Find(arguments[0]);
                if (command is not null && (command.Flags & CommandFlags.RepliesValues) != 0)
                {
                    bytes += ValueBytes(command, arguments);
                }

                queued = queued[length..];
            }
        }

        return bytes;
    }

    private long ValueBytes(CommandInfo command, scoped in RespArguments arguments)
    {
        long bytes = 0;
        int last = command.LastKeyOf(arguments.Count);
        for (int i = command.FirstKey; i <= last; i += command.KeyStep)
        {
            bool isOfItsType = Keys.TryGetInfo(arguments[i], out EntryInfo info) && (info.Type == EntryType.Hash) == (command.Group == "hash");
            bytes += isOfItsType ? info.ValueBytes : 0;
        }

        return bytes;
    }

    private void Queue(ReadOnlySpan<byte> request, int arguments, ref RespWriter writer)
    {
        _queued ??= new QueuedRequests(Peer.Held);
        long limit = Peer.Limits.InputBytesPerConnection;
        bool isTooLong = _queued.Bytes + request.Length > limit;
        _queuedArguments += arguments;
        if (isTooLong || _queuedArguments > MostQueuedArguments)
        {
            BreakTransaction();
            _queued.Clear(); // It will not be executed.
            _queuedArguments = 0;
            writer.WriteError(Text.Bytes(isTooLong
                ? $"ERR the requests queued since MULTI would take more than {limit} bytes (--max-request); the transaction is discarded"
                : $"ERR the requests queued since MULTI would have more than {MostQueuedArguments} arguments; the transaction is discarded"));
            return;
        }

        if (!_isTransactionBroken)
        {
            _queued.Add(request);
        }

        QueuedCount++;
        writer.WriteSimple("QUEUED"u8);
    }

    // A request that cannot be executed breaks the transaction it was to be part of.
    private void BreakTransaction() => _isTransactionBroken |= IsInTransaction;

    private RespRequestReader QueueReader()
    {
        _worker.QueueReader.Reset();
        return _worker.QueueReader;
    }

    private bool TryHoldTransaction()
    {
        PartitionHold hold = _hold ??= new PartitionHold(Server.Store.PartitionCount);
        hold.Clear();
        foreach (WatchedKey watched in _watched)
        {
            hold.Add(watched.Partition);
        }

        for (int block = 0; block < _queued?.BlockCount; block++)
        {
            ReadOnlySpan<byte> queued = _queued[block];
            RespRequestReader reader = QueueReader();
            while (reader.TryRead(queued, out RespRequest request, out int length) == ParseStatus.Complete)
            {
                AddKeys(hold, new RespArguments(reader, queued, request));
                queued = queued[length..];
            }
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
