// Receives the changes of one server, over the connection that makes changes or over a second connection to the same server.
//
//   Not live --connected, tracking on or subscribed, PING answered--> Live --a connection was lost--> Not live
//
//   I1  In the state Live, the connections that were set up are still the current ones.
//   I2  Pushes and the reply that proves the connection live arrive on the same connection, in order.
//   I3  A node of a Cluster has proven that it still serves its slots. One that another node has replaced answers PING, but it refuses a
//       command with a key. The keys of this watch change on the other node then.
using Cairn.Clients.Connections;
using Cairn.Clients.Nodes;
using Cairn.Redis.Nodes;
using Cairn.Redis.Resp;

namespace Cairn.Redis.Invalidation;

internal sealed class ServerWatch(RedisClient client, ServerNode server, PushReader onPush) : IAsyncDisposable
{
    private static readonly RedisArgument[] s_off = ["CLIENT", "TRACKING", "OFF"];

    private ServerNode? _subscriber;
    private ServerConnection? _readyMain;
    private ServerConnection? _readySubscriber;
    private string? _subscriberId;
    private int _readyVersion = -1;
    private string? _servedKey;
    private string? _refusal;
    private bool _hasMissed;

    public ServerNode Main { get; } = server;

    /// <summary>Sets up tracking or the subscription if necessary, then asks for a sign of life. The reply follows all changes so far (I2).</summary>
    /// <param name="mode">The mode in which changes are received.</param>
    /// <param name="prefixes">The prefixes of the keys; no prefix begins with another.</param>
    /// <param name="version">The version of the prefixes, which changes with them.</param>
    /// <param name="channel">The Redis channel on which changes are published.</param>
    /// <param name="timeout">The time limit of each step.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>True if changes may have been missed since the last call.</returns>
    public async ValueTask<bool> TendAsync(
        ChannelMode mode, IReadOnlyList<string> prefixes, int version, string channel, TimeSpan timeout, CancellationToken cancellationToken)
    {
        ServerConnection? main = null;
        ServerConnection? subscriber = null;
        if (mode != ChannelMode.PublishSubscribe || client.IsCluster)
        {
            main = await Main.GetAsync(timeout, cancellationToken).ConfigureAwait(false);
        }

        if (mode != ChannelMode.Tracking)
        {
            _subscriber ??= client.MakeSideNode(Main, OnSubscriberPush);
            subscriber = await _subscriber.GetAsync(timeout, cancellationToken).ConfigureAwait(false);
        }

        if (main != _readyMain || subscriber != _readySubscriber || version != _readyVersion)
        {
            await SetUpAsync(mode, main, subscriber, prefixes, channel, timeout, cancellationToken).ConfigureAwait(false);
            (_readyMain, _readySubscriber, _readyVersion) = (main, subscriber, version);
            _hasMissed = true;
        }

        bool isProven = prefixes.Count > 0 && await TryProveServesAsync(main, prefixes[0], timeout, cancellationToken).ConfigureAwait(false);
        if (subscriber is not null || !isProven)
        {
            await (subscriber ?? main!).AskAsync(["PING"], timeout, cancellationToken).ConfigureAwait(false);
        }

        // The reply to PING follows the refusal of SUBSCRIBE (I2).
        if (Interlocked.Exchange(ref _refusal, null) is { } refusal)
        {
            _readySubscriber = null;
            throw new RedisServerException(refusal);
        }

        // The flag is cleared only here, after the request succeeded. If it fails, the next call reports the missed changes.
        bool hasMissed = _hasMissed;
        _hasMissed = false;
        return hasMissed;
    }

    /// <summary>Stops tracking and closes the second connection.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_readyMain is { IsOpen: true } main)
        {
            try
            {
                await main.AskAsync(s_off, client.Options.OperationTimeout).ConfigureAwait(false);
            }
            catch (RedisException)
            {
                // The connection is lost, and its tracking with it.
            }
        }

        if (_subscriber is not null)
        {
            await _subscriber.DisposeAsync().ConfigureAwait(false);
        }
    }

    private void OnSubscriberPush(ServerConnection connection, ReadOnlySpan<byte> message)
    {
        if (connection.Format.ErrorOf(message) is { } refusal)
        {
            Volatile.Write(ref _refusal, refusal);
            return;
        }

        onPush(connection, message);
    }

    // Returns false without a request if the node is not part of a Cluster, or serves no key with this prefix.
    private async ValueTask<bool> TryProveServesAsync(ServerConnection? main, string prefix, TimeSpan timeout, CancellationToken cancellationToken)
    {
        _servedKey ??= client.FindServedKey(Main, prefix);
        if (main is null || _servedKey is not { } key)
        {
            return false;
        }

        try
        {
            await main.AskAsync(["EXISTS", key], timeout, cancellationToken).ConfigureAwait(false);
        }
        catch (RedisServerException refusal)
        {
            // ASK: the slot is being moved, and this node still serves the keys that have not moved yet.
            _servedKey = null;
            if (refusal.Code == "CLUSTERDOWN")
            {
                client.Doubt(Main);
            }

            if (refusal.Code != "ASK")
            {
                throw;
            }
        }

        return true;
    }

    private async ValueTask SetUpAsync(
        ChannelMode mode,
        ServerConnection? main,
        ServerConnection? subscriber,
        IReadOnlyList<string> prefixes,
        string channel,
        TimeSpan timeout,
        CancellationToken cancellationToken)
    {
        RedisArgument[] redirection = [];
        if (subscriber is not null && subscriber != _readySubscriber)
        {
            // A server that refuses PING says so now. A subscriber's errors belong to SUBSCRIBE.
            await subscriber.AskAsync(["PING"], timeout, cancellationToken).ConfigureAwait(false);
            if (mode == ChannelMode.RedirectedTracking)
            {
                RedisReply id = await subscriber.AskAsync(["CLIENT", "ID"], timeout, cancellationToken).ConfigureAwait(false);
                _subscriberId = id.Text;
            }

            subscriber.BecomeSubscriber();
            subscriber.SendUnanswered(new RespCommand(["SUBSCRIBE", channel]));
        }

        if (mode == ChannelMode.PublishSubscribe)
        {
            return;
        }

        if (mode == ChannelMode.RedirectedTracking)
        {
            redirection = ["REDIRECT", _subscriberId!];
        }

        // Turns tracking off first: the server adds new prefixes to the old ones and refuses overlaps.
        await main!.AskAsync(s_off, timeout, cancellationToken).ConfigureAwait(false);
        await main!.AskAsync(
            ["CLIENT", "TRACKING", "ON", .. redirection, "BCAST", "NOLOOP", .. prefixes.SelectMany(prefix => new RedisArgument[] { "PREFIX", prefix })],
            timeout,
            cancellationToken).ConfigureAwait(false);
    }
}
