using Cairn.Concurrency;
using Cairn.Server.Connections;
using Cairn.Server.Resp.PubSub;
using Cairn.Storage;

namespace Cairn.Server.Resp;

// MULTI queues requests unchanged. EXEC reads them again and executes them while it holds the partitions of their keys, so no writer of
// any process can interfere. Under the same locks, EXEC compares the watched keys with their state at WATCH.
//
// Replies cannot wait for the client while partitions are held. So EXEC first adds up the known lengths of the replies. If the sum
// exceeds the limit of waiting output, EXEC is refused before anything is executed. If there is no memory for it, EXEC waits. If replies
// of unknown length become too long, the connection is closed at once.
internal sealed partial class RespSession
{
    // EXEC executes the whole queue in one turn, so it has its own limits: as many arguments as the longest MSET, and this many bytes of
    // replies in addition to the longest value. Both take as long as other atomic commands.
    private const int MostQueuedArguments = 1 + (2 * RespArguments.MaxPairs);
    private const int MostReplyBytes = 16 << 20;

    // As much other work, in ordinary elements: a store that KEYS visits, hashes that HSET loads, patterns that PUBLISH compares.
    private const int MostQueueWork = 512 << 10;

    // The bytes of a hash of short fields that are loaded in the time of one element.
    private const int BytesOfHashElement = 128;

    private WatchedKeys? _watched;
    private QueuedRequests? _queued;
    private int _queuedArguments;
    private QueuePosition _prepared; // The keys before it are in _hold.
    private bool _isTransactionBroken;
    private bool _isQueueChanging; // A queued command writes or publishes.
    private bool _hasQueueCost; // A queued command has a cost that is known before.
    private bool _isExecutingQueue;
    private long _queueWork; // Without _elements.
    private long _mostQueueBytes; // The limit of the replies of the queue that is being executed.

    /// <summary>Gets whether the session is between MULTI and EXEC.</summary>
    public bool IsInTransaction { get; private set; }

    /// <summary>Gets the number of requests queued since MULTI.</summary>
    public int QueuedCount { get; private set; }

    public void BeginTransaction() => IsInTransaction = true;

    /// <summary>Removes the queue and the watched keys.</summary>
    public void EndTransaction()
    {
        IsInTransaction = false;
        _isTransactionBroken = false;
        _isQueueChanging = false;
        _hasQueueCost = false;
        QueuedCount = 0;
        _queuedArguments = 0;
        _prepared = default;
        _queued?.Clear();
        Unwatch();
    }

    public void Unwatch()
    {
        _watched?.Release();
        _watched = null;
    }

    public void Watch(ReadOnlySpan<byte> key) => (_watched ??= new WatchedKeys(Server.Store, Keys, Peer.Held)).Add(key);

    /// <summary>Executes the queue if no watched key has changed, and writes the reply.</summary>
    public void ExecuteTransaction(ref RespWriter writer)
    {
        if (_isTransactionBroken)
        {
            EndTransaction();
            writer.WriteError("EXECABORT Transaction discarded because of previous errors."u8);
            return;
        }

        if (!TryPrepareQueue(ref writer))
        {
            return;
        }

        // Without keys, no lock is needed. A nested hold would not take one, either.
        _holdDepth = Keys.Engine.TryHold(_hold!) ? 1 : 0;
        if (_holdDepth == 0)
        {
            EndTransaction();
            writer.WriteError("EXECABORT Transaction discarded because a part of the store is held by a process that does not run."u8);
            return;
        }

        bool hasEnded = true;
        try
        {
            if (_watched?.AreUnchanged() == false)
            {
                writer.WriteNullArray();
                return;
            }

            (long known, long longest, long work) = _hasQueueCost ? KnownCost() : default;
            if (known > MaxReplyBytes || known - longest > MostReplyBytes)
            {
                writer.WriteError(Text.Bytes(
                    $"EXECABORT Transaction discarded because its replies would take more than {MaxReplyBytes} bytes (--max-waiting), or more than {MostReplyBytes} beside the longest value."));
                return;
            }

            if (work > MostQueueWork)
            {
                writer.WriteError(
                    "EXECABORT Transaction discarded because other clients would have to wait too long for its commands. Use fewer in a transaction, or shorter values."u8);
                return;
            }

            if (MustAwaitMemory(known, 1, ref writer))
            {
                hasEnded = false;
                return;
            }

            _mostQueueBytes = Math.Min(MaxReplyBytes, known + MostReplyBytes);
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

    // Collects the partitions of the queue's keys. Makes the pages of many keys ready for a write, in turns of bounded length, as TryTouchKeys.
    // Returns false if EXEC must return now, and continues here.
    private bool TryPrepareQueue(ref RespWriter writer)
    {
        PartitionHold hold = _hold ??= new PartitionHold(Server.Store.PartitionCount);
        if (_prepared == default)
        {
            hold.Clear();
            _watched?.AddTo(hold);
        }

        bool isLong = _queuedArguments > ElementsPerTurn;
        for (; _prepared.Block < _queued?.BlockCount; _prepared = new(_prepared.Block + 1, 0, 0))
        {
            ReadOnlySpan<byte> queued = _queued[_prepared.Block][_prepared.Offset..];
            RespRequestReader reader = QueueReader();
            while (reader.TryRead(queued, out RespRequest request, out int length) == ParseStatus.Complete)
            {
                var arguments = new RespArguments(reader, queued, request);
                (int first, int last, int step, bool isWrite) = KeysOf(arguments, hold);
                for (int i = first + (_prepared.Keys * step); i <= last; i += step, _prepared.Keys++)
                {
                    KeyPlacement place = Keys.PlaceOf(arguments[i]);
                    hold.Add(place.Partition);
                    if (isWrite && isLong)
                    {
                        if (MustPause(1, ref writer))
                        {
                            return false;
                        }

                        Keys.Engine.TouchBucket(place);
                    }
                }

                queued = queued[length..];
                _prepared = new(_prepared.Block, _prepared.Offset + length, 0);
            }
        }

        return true;
    }

    private void ExecuteQueue(ref RespWriter writer)
    {
        IsInTransaction = false;
        _isExecutingQueue = true;
        _isQueueOver = false;
        _queueWork = -_elements;
        writer.WriteArrayHeader(QueuedCount);
        var requests = default(QueuedGroup);
        Span<AheadRequest> group = requests;
        for (int block = 0; block < _queued?.BlockCount; block++)
        {
            ReadOnlySpan<byte> queued = _queued[block];
            RespRequestReader reader = QueueReader();
            while (ReadAhead(reader, queued, group) is var count and > 0)
            {
                foreach ((RespRequest request, int length, CommandInfo? command) in group[..count])
                {
                    Dispatch(command, new RespArguments(reader, queued, request), queued[..length], ref writer);
                    if (_isQueueOver || EndQueueIfOver(0, ref writer))
                    {
                        _isClosing = true;
                        Peer.Close(IsQueueTooLong ? CloseReason.TransactionTooLong : CloseReason.TooMuchOutput);
                        return;
                    }

                    queued = queued[length..];
                }
            }
        }
    }

    // The work that was not known before may be as much again.
    private bool IsQueueTooLong => _queueWork + _elements > 2 * MostQueueWork;

    // Returns the total length of the values that the queued requests read, as they are now, and the longest of them; and the work of the
    // requests, as far as it is known before they are executed.
    private (long ReplyBytes, long LongestValue, long Work) KnownCost()
    {
        long bytes = 0;
        long longest = 0;
        long work = 0;
        for (int block = 0; block < _queued?.BlockCount && bytes <= MaxReplyBytes && work <= MostQueueWork; block++)
        {
            ReadOnlySpan<byte> queued = _queued[block];
            RespRequestReader reader = QueueReader();
            while (reader.TryRead(queued, out RespRequest request, out int length) == ParseStatus.Complete)
            {
                var arguments = new RespArguments(reader, queued, request);
                CommandInfo? command = Server.Commands.Find(arguments[0]);
                if (command is not null && !IsSilent && (command.Flags & CommandFlags.RepliesValues) != 0)
                {
                    bytes += ValueBytes(command, arguments, ref longest);
                }

                work += command switch
                {
                    { Name: "keys" or "randomkey" } => ScanWork(isWhole: command.Name == "keys" || User!.KeyPrefix.Length > 0),
                    { IsPublish: true } => (Server.Messages.PatternCount / PubSubHub.PatternsOfElement) + Server.Messages.CountSubscribers(arguments[1]),
                    not null when (command.Flags & CommandFlags.Rewrites) != 0 => RewriteWork(arguments[command.FirstKey]),
                    { Group: "hash" or "set" or "sorted-set" } => CheckWork(arguments[command.FirstKey]),
                    _ => 0,
                };
                queued = queued[length..];
            }
        }

        return (bytes, longest, work);
    }

    // The work of visiting the whole store, or on average until the first entry.
    private long ScanWork(bool isWhole)
    {
        long entries = Server.Store.GetStatistics().Totals.Entries;
        long buckets = Keys.Engine.BucketCount / KeyScan.BucketsOfElement;
        return isWhole ? entries + buckets : entries == 0 ? 0 : buckets / entries;
    }

    private long RewriteWork(ReadOnlySpan<byte> key) => Keys.TryGetInfo(key, out EntryInfo info)
        ? (info.ValueBytes * 2L / BytesOfElement) + (info.Type == EntryType.Hash ? info.ValueBytes / BytesOfHashElement : 0)
        : 0;

    private long CheckWork(ReadOnlySpan<byte> key) =>
        Keys.TryGetInfo(key, out EntryInfo info) ? info.ValueBytes / (BytesOfElement * KeySpace.CheckedBytesOfCopied) : 0;

    private long ValueBytes(CommandInfo command, scoped in RespArguments arguments, ref long longest)
    {
        long bytes = 0;
        int last = command.LastKeyOf(arguments);
        for (int i = command.FirstKey; i <= last; i += command.KeyStep)
        {
            bool isOfItsType = Keys.TryGetInfo(arguments[i], out EntryInfo info) && (info.Type == EntryType.Hash) == (command.Group is "hash" or "set" or "sorted-set");
            long value = isOfItsType ? info.ValueBytes : 0;
            bytes += value;
            longest = Math.Max(longest, value);
        }

        return bytes;
    }

    private void Queue(ReadOnlySpan<byte> request, int arguments, ref RespWriter writer)
    {
        _queued ??= new QueuedRequests(Peer.Held);
        long limit = Peer.Limits.MaxInputBytesPerConnection;
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

    // A request that cannot be executed breaks its transaction.
    private void BreakTransaction() => _isTransactionBroken |= IsInTransaction;

    private RespRequestReader QueueReader()
    {
        _worker.QueueReader.Reset();
        return _worker.QueueReader;
    }

    // Returns the positions of the keys among the arguments. A command that writes all keys has none, and adds all partitions.
    private (int First, int Last, int Step, bool IsWrite) KeysOf(scoped in RespArguments arguments, PartitionHold hold)
    {
        CommandInfo? command = Server.Commands.Find(arguments[0]);
        if (command is { Subcommands.Length: > 0 } && arguments.Count > 1)
        {
            command = command.FindSubcommand(arguments[1]);
        }

        bool isWrite = command is not null && (command.Flags & CommandFlags.Write) != 0;
        if (isWrite && (command!.Flags & CommandFlags.AllKeys) != 0)
        {
            hold.AddAll();
        }
        else if (command?.FirstKey > 0)
        {
            return (command.FirstKey, command.LastKeyOf(arguments), command.KeyStep, isWrite);
        }

        return (1, 0, 1, isWrite);
    }

    // The requests of the queue that are looked ahead over together.
    [InlineArray(16)]
    private struct QueuedGroup
    {
        private AheadRequest _first;
    }

    /// <summary>A request of the queue, and the number of its keys before the present one.</summary>
    private record struct QueuePosition(int Block, int Offset, int Keys);
}
