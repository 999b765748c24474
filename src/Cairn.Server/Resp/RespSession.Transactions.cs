using Cairn.Concurrency;
using Cairn.Server.Connections;
using Cairn.Server.Resp.PubSub;

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
    // replies besides the longest value. Both take as long as other atomic commands.
    private const int MostQueuedArguments = 1 + (2 * RespArguments.MaxPairs);
    private const int MostReplyBytes = 16 << 20;

    // As much other work, in ordinary elements: a store that KEYS visits, hashes that HSET loads, patterns that PUBLISH compares.
    private const int MostQueueWork = 512 << 10;

    // The bytes of a hash of short fields that are loaded in the time of one element.
    private const int BytesOfHashElement = 128;

    private WatchedKeys? _watched;
    private QueuedRequests? _queued;
    private int _queuedArguments;
    private bool _isTransactionBroken;
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
        QueuedCount = 0;
        _queuedArguments = 0;
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

        if (!TryHoldTransaction())
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

            long longest = 0;
            long known = IsSilent ? 0 : KnownReplyBytes(out longest);
            if (known > MaxReplyBytes || known - longest > MostReplyBytes)
            {
                writer.WriteError(Text.Bytes(
                    $"EXECABORT Transaction discarded because its replies would take more than {MaxReplyBytes} bytes (--max-waiting), or more than {MostReplyBytes} beside the longest value."));
                return;
            }

            if (KnownWork() > MostQueueWork)
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

    private void ExecuteQueue(ref RespWriter writer)
    {
        IsInTransaction = false;
        _isExecutingQueue = true;
        _isQueueOver = false;
        _queueWork = -_elements;
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
                    Peer.Close(IsQueueTooLong ? CloseReason.TransactionTooLong : CloseReason.TooMuchOutput);
                    return;
                }

                queued = queued[length..];
            }
        }
    }

    // The work that was not known before may be as much again.
    private bool IsQueueTooLong => _queueWork + _elements > 2 * MostQueueWork;

    // Returns the total length of the values that the queued requests read, as they are now, and the longest of them.
    private long KnownReplyBytes(out long longest)
    {
        long bytes = 0;
        longest = 0;
        for (int block = 0; block < _queued?.BlockCount && bytes <= MaxReplyBytes; block++)
        {
            ReadOnlySpan<byte> queued = _queued[block];
            RespRequestReader reader = QueueReader();
            while (reader.TryRead(queued, out RespRequest request, out int length) == ParseStatus.Complete)
            {
                var arguments = new RespArguments(reader, queued, request);
                CommandInfo? command = Server.Commands.Find(arguments[0]);
                if (command is not null && (command.Flags & CommandFlags.RepliesValues) != 0)
                {
                    bytes += ValueBytes(command, arguments, ref longest);
                }

                queued = queued[length..];
            }
        }

        return bytes;
    }

    // Returns the work of the queued commands, as far as it is known before they are executed.
    private long KnownWork()
    {
        long work = 0;
        for (int block = 0; block < _queued?.BlockCount && work <= MostQueueWork; block++)
        {
            ReadOnlySpan<byte> queued = _queued[block];
            RespRequestReader reader = QueueReader();
            while (reader.TryRead(queued, out RespRequest request, out int length) == ParseStatus.Complete)
            {
                var arguments = new RespArguments(reader, queued, request);
                work += Server.Commands.Find(arguments[0]) switch
                {
                    { Name: "keys" } => Server.Store.GetStatistics().Totals.Entries,
                    { IsPublish: true } => Server.Messages.PatternCount / PubSubHub.PatternsOfElement,
                    { } command when (command.Flags & CommandFlags.Rewrites) != 0 => RewriteWork(arguments[command.FirstKey]),
                    _ => 0,
                };
                queued = queued[length..];
            }
        }

        return work;
    }

    private long RewriteWork(ReadOnlySpan<byte> key) => Keys.TryGetInfo(key, out EntryInfo info)
        ? (info.ValueBytes * 2L / BytesOfElement) + (info.Type == EntryType.Hash ? info.ValueBytes / BytesOfHashElement : 0)
        : 0;

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

    private bool TryHoldTransaction()
    {
        PartitionHold hold = _hold ??= new PartitionHold(Server.Store.PartitionCount);
        hold.Clear();
        _watched?.AddTo(hold);
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

        // Without keys, no lock is needed. A nested hold would not take one, either.
        _holdDepth = Keys.Engine.TryHold(hold) ? 1 : 0;
        return _holdDepth == 1;
    }

    private void AddKeys(PartitionHold hold, scoped in RespArguments arguments)
    {
        CommandInfo? command = Server.Commands.Find(arguments[0]);
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
            int last = command.LastKeyOf(arguments);
            for (int i = command.FirstKey; i <= last; i += command.KeyStep)
            {
                hold.Add(Keys.PartitionOf(arguments[i]));
            }
        }
    }
}
