using Cairn.Server.Resp.PubSub;
using Cairn.Server.Resp.Tracking;

namespace Cairn.Server.Resp;

// Client tracking: which keys the client has read, and how it receives invalidations. They are pushed, or sent to another connection that
// has subscribed to a channel.
internal sealed partial class RespSession : ITracker
{
    private const int KeptOwnHashes = 1024;

    // The memory of a prefix that one client follows, without its bytes: the array, its place in the hub's table, and the set of clients.
    private const int FollowedPrefixBytes = 400;

    private volatile TrackingState? _tracking;
    private volatile bool _isRedirectionBroken;
    private bool _hasChanged;

    /// <summary>Gets the tracking state; null if the client does not track keys. Thread-safe.</summary>
    public TrackingState? Tracking => _tracking;

    /// <summary>Gets whether invalidations were redirected to a connection that has ended.</summary>
    public bool IsRedirectionBroken => _isRedirectionBroken;

    /// <summary>Gets the keys that the present command may change, while this session is registered with the hub as their
    /// writer.</summary>
    public List<ulong> OwnHashes { get; } = [];

    /// <summary>Gets or sets whether the next command is an exception, after CLIENT CACHING.</summary>
    public bool IsCachingException { get; set; }

    private static ReadOnlySpan<byte> InvalidationChannel => "__redis__:invalidate"u8;

    /// <summary>Starts, changes or ends the tracking of keys.</summary>
    public void Track(TrackingState? state)
    {
        TrackingState? before = _tracking;
        _tracking = state;
        Peer.Held.Charge((state?.Prefixes.Sum(PrefixBytes) ?? 0) - (before?.Prefixes.Sum(PrefixBytes) ?? 0));
        _isRedirectionBroken = false;
        IsCachingException = false;
        if (before is not null || state is not null)
        {
            Server.Tracking.Change(this, before, state);
        }
    }

    /// <summary>Sends an invalidation of keys soon or, with null, of all keys. Thread-safe.</summary>
    public void Invalidate(PublishedMessage? keys)
    {
        if (_tracking is not { } state)
        {
            return;
        }

        RespSession? receiver = this;
        if (state.Redirection != 0 && !Server.TryFind(state.Redirection, out receiver))
        {
            _isRedirectionBroken = true;
            Deliver(PublishedMessage.Rent(default, default, Peer.Held.Account), null, InboxKind.RedirectionBroken);
            return;
        }

        keys?.Hold();
        receiver.Deliver(
            keys ?? PublishedMessage.Rent(default, default, Peer.Held.Account), null, keys is null ? InboxKind.InvalidateAll : InboxKind.Invalidate,
            isRedirected: state.Redirection != 0);
    }

    // Executes a command while some client tracks keys.
    private void ExecuteTracked(CommandInfo command, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if ((command.Flags & CommandFlags.Write) != 0)
        {
            ExecuteChange(command, arguments, ref writer);
        }
        else
        {
            if (command.FirstKey > 0 && (command.Flags & CommandFlags.ReadOnly) != 0 && _tracking is { } state
                && (!state.IsOptIn || IsCachingException) && (!state.IsOptOut || !IsCachingException))
            {
                (int first, int last) = KeysAtHand(command, arguments);
                for (int i = first; i <= last; i += command.KeyStep)
                {
                    Server.Tracking.Remember(this, state, arguments[i]);
                }
            }

            command.Handler(this, arguments, ref writer);
        }

        if (!IsPaused && !IsInTransaction && _holdDepth == 0 && !command.Name.StartsWith("client", StringComparison.Ordinal))
        {
            IsCachingException = false;
        }
    }

    // Returns the range of keys that the command may process before its next pause: all keys, or those of a piece.
    private (int First, int Last) KeysAtHand(CommandInfo command, scoped in RespArguments arguments)
    {
        int last = command.LastKeyOf(arguments);
        if ((command.Flags & CommandFlags.InPieces) == 0 || _isExecutingQueue)
        {
            return (command.FirstKey, last);
        }

        int first = Math.Max(command.FirstKey, ResumeAt);
        return (first, Math.Min(last, first + ElementsPerTurn));
    }

    private void ExecuteChange(CommandInfo command, scoped in RespArguments arguments, ref RespWriter writer)
    {
        TrackingHub hub = Server.Tracking;
        (int first, int last) = command.FirstKey > 0 ? KeysAtHand(command, arguments) : (0, -1);
        for (int i = first; i <= last && hub.HasBroadcasts; i += command.KeyStep)
        {
            hub.NoteName(arguments[i]);
        }

        _hasChanged = true;
        if (_tracking is not { IsNoLoop: true } || last < 0 || !TryHoldKeys(arguments, first, last, command.KeyStep))
        {
            command.Handler(this, arguments, ref writer);
            return;
        }

        OwnHashes.Clear();
        for (int i = first; i <= last; i += command.KeyStep)
        {
            OwnHashes.Add(Keys.PlaceOf(arguments[i]).Hash);
        }

        long sent = hub.BroadcastsSent;
        hub.BeginOwn(this);
        try
        {
            command.Handler(this, arguments, ref writer);
        }
        finally
        {
            hub.EndOwn(this);
            CountWork(hub.BroadcastsSent - sent);
            EndHold();
            if (OwnHashes.Capacity > KeptOwnHashes)
            {
                OwnHashes.Clear();
                OwnHashes.TrimExcess();
            }
        }
    }

    private static long PrefixBytes(byte[] prefix) => prefix.Length + FollowedPrefixBytes;

    // Sends invalidations before the client that made the changes gets its replies.
    private void TellChanges()
    {
        if (_hasChanged)
        {
            _hasChanged = false;
            Server.Tracking.Tell();
        }
    }

    private void WriteInvalidation(InboxItem item, ref RespWriter writer)
    {
        if (item.Kind == InboxKind.RedirectionBroken)
        {
            if (IsResp3)
            {
                writer.WritePushHeader(2);
                writer.WriteBulk("tracking-redir-broken"u8);
                writer.WriteInteger(_tracking?.Redirection ?? 0);
            }

            return;
        }

        if (IsResp3)
        {
            writer.WritePushHeader(2);
            writer.WriteBulk("invalidate"u8);
        }
        else if (item.IsRedirected && SubscriptionCount > 0)
        {
            writer.WritePushHeader(3);
            writer.WriteBulk("message"u8);
            writer.WriteBulk(InvalidationChannel);
        }
        else
        {
            return;
        }

        if (item.Kind == InboxKind.InvalidateAll)
        {
            writer.WriteNull();
        }
        else
        {
            writer.WriteArrayHeader(ChangedKeys.CountOf(item.Message));
            writer.WriteRaw(item.Message.Channel);
        }
    }
}
