using Cairn.Server.Buffers;
using Cairn.Server.Connections;
using Cairn.Server.Metrics;
using Cairn.Server.Notifications;
using Cairn.Server.Resp.Hashes;
using Cairn.Server.Resp.PubSub;

namespace Cairn.Server.Resp;

/// <summary>Whether a client gets replies.</summary>
internal enum ReplyMode
{
    On,
    Off,

    /// <summary>The next command gets no reply.</summary>
    SkipNext,

    /// <summary>The present command gets no reply.</summary>
    Skip,
}

// A client that speaks RESP. The session reads requests in place and finds each command. It makes the checks of Redis in the same order.
// Then the command writes its reply directly into the connection's output.
internal sealed partial class RespSession : Session
{
    private const int LongestQuote = 128;
    private const int ManyArguments = 64;
    private const int UncountedReaderBytes = 2048;

    private readonly RespWorker _worker;
    private readonly RequestRecorder _recorder;
    private readonly RespRequestReader _reader;
    private bool _wasReset; // While a command is executed silently.
    private readonly OutputBufferWriter _target = new();
    private CommandInfo? _commandAtHand;
    private int _countedReaderBytes;
    private bool _isClosing;

    public RespSession(RespServer server, RespPeer peer, RespLimits? limits = null)
    {
        Server = server;
        Peer = peer;
        Events = server.Events;
        _worker = server.CurrentWorker;
        Keys = _worker.Keys;
        _source = peer.CreateSource();
        _channels = new SubscribedNames(peer.Held);
        _patterns = new SubscribedNames(peer.Held);
        _recorder = server.Metrics.OfThisThread;
        _inbox = new MessageInbox(peer.Held);
        _emptyInbox = EmptyInbox;
        _reader = new RespRequestReader(limits);
        Become(server.Users.Initial);
        server.Add(this);
    }

    public RespServer Server { get; }

    public RespPeer Peer { get; }

    public KeySpace Keys { get; }

    /// <summary>Gets the receiver of the changes that commands make.</summary>
    public KeyspaceEvents Events { get; }

    /// <summary>Gets the editor of hashes.</summary>
    public HashEditor Editor => _worker.Editor;

    public bool IsResp3 { get; private set; }

    /// <summary>Gets or sets the name that the client gave itself; empty if none.</summary>
    public string ClientName
    {
        get;
        set => Name(ref field, value);
    }
    = "";

    public string LibraryName
    {
        get;
        set => Name(ref field, value);
    }
    = "";

    public string LibraryVersion
    {
        get;
        set => Name(ref field, value);
    }
    = "";

    public ReplyMode ReplyMode { get; set; }

    /// <summary>Gets the last command, for lists of clients.</summary>
    public CommandInfo? LastCommand { get; private set; }

    /// <summary>Gets or sets the number of digits of the last value's length. It predicts where the next value will begin in the
    /// output.</summary>
    public int LikelyLengthDigits { get; set; } = 1;

    public override int Execute(ReadOnlySpan<byte> input, OutputBuffer output, int budget)
    {
        NeededBytes = 0;
        Keys.ThrowIfClosed();
        AwaitedBytes = 0;
        _elements = 0;
        _output = output;
        _target.Open(output);
        var writer = new RespWriter(_target, IsResp3);
        int consumed = 0;
        int executed = 0;
        while (executed < budget && _elements <= ElementsPerTurn && !_isClosing && output.UnsentBytes + writer.PendingBytes < output.FullAt)
        {
            ReadOnlySpan<byte> rest = input[consumed..];
            RespRequest request;
            int length;
            CommandInfo? command = null;
            if (_aheadNext < _aheadRead)
            {
                (request, length, command) = _aheadRequests[_aheadNext++];
            }
            else
            {
                ParseStatus status = _reader.TryRead(rest, out request, out length);
                if (status == ParseStatus.Incomplete)
                {
                    NeededBytes = _reader.NeededBytes;
                    break;
                }

                if (status != ParseStatus.Complete)
                {
                    WriteProtocolError(rest, ref writer);
                    consumed = input.Length;
                    break;
                }
            }

            var arguments = new RespArguments(_reader, rest, request);
            if ((Server.IsPaused || _isHeldByPause) && MustWait(command, arguments, request, length))
            {
                break;
            }

            if (ReplyMode == ReplyMode.On)
            {
                Dispatch(command, arguments, rest[..length], ref writer);
            }
            else
            {
                DispatchSilently(command, arguments, rest[..length], ref writer);
            }

            if (IsPaused)
            {
                PutBack(command, request, length);
                break;
            }

            consumed += length;
            executed++;
        }

        writer.Flush();
        HasUnfinishedRequest = IsPaused;
        TellChanges();
        Events.SendWaiting();
        if (_isInboxWaiting && !IsPaused)
        {
            EmptyInbox(output);
        }

        _worker.CountCommands(executed);
        Trim();
        return consumed;
    }

    public override void OnClosed(CloseReason reason)
    {
        CountPause(isHeld: false);
        Track(null);
        LeaveChannels();
        _inbox.Close();
        EndTransaction();
        EndCheck();
        EndScan();
        ReleaseSource();
        Server.Remove(this);
    }

    /// <summary>Switches to RESP3 or RESP2, beginning with the present reply.</summary>
    public void SwitchProtocol(bool isResp3, ref RespWriter writer)
    {
        IsResp3 = isResp3;
        writer.IsResp3 = isResp3;
    }

    /// <summary>Ends the connection after the replies so far.</summary>
    public void Close()
    {
        _isClosing = true;
        Peer.Close(CloseReason.ClosedBySession);
    }

    /// <summary>Resets the session to the state of a new connection. The caller must have ended its subscriptions.</summary>
    public void Reset(ref RespWriter writer)
    {
        SwitchProtocol(isResp3: false, ref writer);
        EndTransaction();
        Track(null);
        Become(Server.Users.Initial);
        ClientName = "";
        ReplyMode = ReplyMode.On;
        _wasReset = true;
    }

    // Frees memory that only a long request needed, and counts the rest.
    private void Trim()
    {
        _worker.Trim(Peer.Held);
        CountKept();
        if (_reader.HeldBytes <= UncountedReaderBytes && _countedReaderBytes == 0)
        {
            return;
        }

        if (_aheadNext == _aheadRead)
        {
            _reader.Trim();
        }

        int bytes = _reader.HeldBytes > UncountedReaderBytes ? _reader.HeldBytes : 0;
        Peer.Held.Charge(bytes - _countedReaderBytes);
        _countedReaderBytes = bytes;
    }

    private void Name(ref string name, string value)
    {
        Peer.Held.Charge(sizeof(char) * (value.Length - name.Length));
        name = value;
    }

    // Finds the command, unless the look-ahead has already found it.
    private void Dispatch(CommandInfo? command, scoped in RespArguments arguments, ReadOnlySpan<byte> request, ref RespWriter writer)
    {
        if (_pausedCommand is { } paused)
        {
            _pausedCommand = null;
            Execute(paused, arguments, ref writer);
            return;
        }

        if (arguments.Count == 0)
        {
            return;
        }

        command ??= Server.Commands.Find(arguments[0]);
        if (command is { Subcommands.Length: > 0 } && arguments.Count > 1)
        {
            CommandInfo? subcommand = command.FindSubcommand(arguments[1]);
            if (subcommand is null)
            {
                BreakTransaction();
                RejectSubcommand(command, arguments[1], ref writer);
                _recorder.CountRejected(command.Number);
                return;
            }

            command = subcommand;
        }

        if (command is null)
        {
            BreakTransaction();
            _recorder.CountRejected(CommandTable.Unknown);
            if (IsHttp(arguments[0]))
            {
                Reject(request);
                return;
            }

            RejectUnknown(arguments, ref writer);
            return;
        }

        if (!command.AcceptsCount(arguments.Count))
        {
            RejectCommand(
                command,
                arguments.Count > command.MostArguments
                    ? $"ERR '{command.Name}' takes at most {command.MostArguments} arguments"
                    : $"ERR wrong number of arguments for '{command.Name}' command",
                ref writer);
            _recorder.CountRejected(command.Number);
            return;
        }

        if (_isRestricted && !IsPermitted(command, arguments, ref writer))
        {
            BreakTransaction();
            _recorder.CountRejected(command.Number);
            return;
        }

        if (command.FirstKey > 0 && !HasValidKeys(command, arguments))
        {
            BreakTransaction();
            writer.WriteError(Server.KeyLengthError);
            _recorder.CountRejected(command.Number);
            return;
        }

        if (!IsResp3 && SubscriptionCount > 0 && !_isExecutingQueue && (command.Flags & CommandFlags.Subscribed) == 0)
        {
            RejectCommand(
                command,
                $"ERR Can't execute '{command.Name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context",
                ref writer);
            _recorder.CountRejected(command.Number);
            return;
        }

        LastCommand = command;
        ResumeAt = 0;
        if (IsInTransaction && (command.Flags & CommandFlags.Immediate) == 0)
        {
            _isQueueChanging |= IsPausedAsWrite(command);
            _hasQueueCost |= command.HasKnownCost;
            Queue(request, arguments.Count, ref writer);
            return;
        }

        Execute(command, arguments, ref writer);
    }

    private void Execute(CommandInfo command, scoped in RespArguments arguments, ref RespWriter writer)
    {
        int errors = writer.ErrorCount;
        long watched = _recorder.Watch(command.MayTakeLong || arguments.Count > ManyArguments);
        Keys.ForgetLookups();
        Keys.ReportsMisses = command.ReportsMisses;
        _commandAtHand = command;
        if (Server.Tracking.IsActive)
        {
            ExecuteTracked(command, arguments, ref writer);
        }
        else
        {
            command.Handler(this, arguments, ref writer);
        }

        CountWork(Keys.TakeLongBytes() / BytesOfElement);
        if (watched != 0)
        {
            NoteIfSlow(watched, command, arguments);
        }

        if (writer.ErrorCount != errors)
        {
            _recorder.CountError(command.Number);
        }

        // Writes also look up keys, but these lookups are not counted.
        if ((command.Flags & CommandFlags.ReadOnly) != 0)
        {
            _recorder.CountLookups(command.Number, Keys.Hits, Keys.Misses);
        }

        if (!IsPaused)
        {
            _recorder.Count(command.Number);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void NoteIfSlow(long watched, CommandInfo command, scoped in RespArguments arguments)
    {
        if (!_recorder.IsSlow(watched, out TimeSpan duration))
        {
            return;
        }

        // Never log credentials.
        bool isSecret = command.Name is "auth" or "hello";
        int kept = isSecret ? 1 : Math.Min(arguments.Count, SlowRequest.MaxArguments);
        var words = new List<byte[]>(kept);
        for (int i = 0; i < kept; i++)
        {
            words.Add(i == SlowRequest.MaxArguments - 1 && arguments.Count > SlowRequest.MaxArguments
                ? Text.Bytes($"... ({arguments.Count - i} more arguments)")
                : SlowRequest.Cut(arguments[i]));
        }

        if (isSecret && arguments.Count > 1)
        {
            words.Add("(redacted)"u8.ToArray());
        }

        _recorder.AddSlow(new SlowRequest
        {
            At = Server.Clock.GetUtcNow(),
            Duration = duration,
            Protocol = CommandTable.Protocol,
            Client = Peer.Remote,
            ClientName = ClientName,
            Arguments = words,
        });
    }

    private void DispatchSilently(
        CommandInfo? command, scoped in RespArguments arguments, ReadOnlySpan<byte> request, ref RespWriter writer)
    {
        ReplyMode before = ReplyMode;
        _wasReset = false;
        _worker.Discarding.Bytes = 0;
        writer.Flush(); // The command may push messages.
        var silent = new RespWriter(_worker.Discarding, IsResp3);
        Dispatch(command, arguments, request, ref silent);
        CountWork((_worker.Discarding.Bytes + silent.PendingBytes) / BytesOfElement);
        if (IsPaused)
        {
            return;
        }

        if (ReplyMode == ReplyMode.On && before != ReplyMode.On)
        {
            // CLIENT REPLY ON always gets its reply. RESET gets it unless CLIENT REPLY SKIP precedes it.
            if (!_wasReset)
            {
                writer.WriteOk();
            }
            else if (before == ReplyMode.Off)
            {
                writer.WriteSimple("RESET"u8);
            }
        }

        writer.IsResp3 = IsResp3;
        ReplyMode = ReplyMode switch
        {
            ReplyMode.SkipNext => ReplyMode.Skip,
            ReplyMode.Skip => ReplyMode.On,
            _ => ReplyMode,
        };
    }

    private bool HasValidKeys(CommandInfo command, scoped in RespArguments arguments)
    {
        int last = command.LastKeyOf(arguments);
        uint most = (uint)Server.MaxKeyBytes;
        for (int i = command.FirstKey; i <= last; i += command.KeyStep)
        {
            if ((uint)(arguments[i].Length - 1) >= most)
            {
                return false;
            }
        }

        return true;
    }

    // Rejects a known command that may not be executed. If it is EXEC, its transaction ends.
    private void RejectCommand(CommandInfo command, string text, ref RespWriter writer)
    {
        BreakTransaction();
        if (command.Name == "exec")
        {
            EndTransaction();
            text = "EXECABORT Transaction discarded because of: " + (text.StartsWith("ERR ", StringComparison.Ordinal) ? text[4..] : text);
        }

        Reject(text, ref writer);
    }

    private static void Reject(string text, ref RespWriter writer) => writer.WriteError(Text.Bytes(text));

    private static void RejectSubcommand(CommandInfo command, ReadOnlySpan<byte> name, ref RespWriter writer) =>
        Reject(
            $"ERR unknown subcommand '{Quote(name, LongestQuote)}'. Try {command.Name.ToUpperInvariant()} HELP.", ref writer);

    private static void RejectUnknown(scoped in RespArguments arguments, ref RespWriter writer)
    {
        string list = "";
        for (int i = 1; i < arguments.Count && list.Length < LongestQuote; i++)
        {
            list += $"'{Quote(arguments[i], LongestQuote - list.Length)}' ";
        }

        Reject($"ERR unknown command '{Quote(arguments[0], LongestQuote)}', with args beginning with: {list}", ref writer);
    }

    // Formats bytes as C prints a string: up to a zero byte.
    private static string Quote(ReadOnlySpan<byte> bytes, int longest)
    {
        int zero = bytes.IndexOf((byte)0);
        bytes = zero < 0 ? bytes : bytes[..zero];
        return Text.Latin(bytes[..Math.Min(bytes.Length, longest)]);
    }

    // A web page in a browser can send an HTTP request to a server on the same machine. The request's body would be read as inline
    // commands. Redis closes the connection at the same two words.
    private static bool IsHttp(ReadOnlySpan<byte> word) =>
        Ascii.EqualsIgnoreCase(word, "POST"u8) || Ascii.EqualsIgnoreCase(word, "Host:"u8);

    private void WriteProtocolError(ReadOnlySpan<byte> request, ref RespWriter writer)
    {
        _recorder.CountRejected(CommandTable.Unknown);
        Span<byte> text = stackalloc byte[128];
        if (_reader.Error != RespProtocolError.RequestTooLong)
        {
            "ERR "u8.CopyTo(text);
            int length = 4 + _reader.FormatError(text[4..]);
            writer.WriteError(text[..length]);
        }

        Reject(request);
    }

    private void Reject(ReadOnlySpan<byte> request)
    {
        _isClosing = true;
        Peer.Reject(request);
    }
}
