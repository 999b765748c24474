// What is heard of one server's changes: over the connection that makes changes, or over a second one to the same server.
//
//   Deaf --connected, tracking on or subscribed, PING answered--> Hearing --a connection was lost--> Deaf
//
//   I1  Hearing means: the very connections that were set up are still the current ones.
//   I2  Pushes and the reply to PING come over the same connection, in order.
using Cairn.Redis.Connections;
using Cairn.Redis.Nodes;

namespace Cairn.Redis.Invalidation;

internal sealed class ServerWatch(RedisClient client, RedisNode server, PushReader onPush) : IAsyncDisposable
{
    private static readonly RedisArgument[] s_off = ["CLIENT", "TRACKING", "OFF"];

    private RedisNode? _subscriber;
    private ServerConnection? _readyMain;
    private ServerConnection? _readySubscriber;
    private string? _subscriberId;
    private int _readyVersion = -1;
    private bool _hasMissed;

    public RedisNode Main { get; } = server;

    /// <summary>Sees that changes are heard of, and waits for a sign that all until now were.</summary>
    /// <param name="mode">How they are heard of.</param>
    /// <param name="prefixes">What keys begin with, none of them the beginning of another.</param>
    /// <param name="version">Changes with the prefixes.</param>
    /// <param name="channel">Where changes are published.</param>
    /// <param name="timeout">For each step.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>True if some may have been missed since the last time.</returns>
    public async ValueTask<bool> TendAsync(
        ChannelMode mode, IReadOnlyList<string> prefixes, int version, string channel, TimeSpan timeout, CancellationToken cancellationToken)
    {
        ServerConnection? main = null;
        ServerConnection? subscriber = null;
        if (mode != ChannelMode.PublishSubscribe)
        {
            main = await Main.GetAsync(timeout, cancellationToken).ConfigureAwait(false);
        }

        if (mode != ChannelMode.Tracking)
        {
            _subscriber ??= client.MakeSideNode(Main, onPush);
            subscriber = await _subscriber.GetAsync(timeout, cancellationToken).ConfigureAwait(false);
        }

        if (main != _readyMain || subscriber != _readySubscriber || version != _readyVersion)
        {
            await SetUpAsync(mode, main, subscriber, prefixes, channel, timeout, cancellationToken).ConfigureAwait(false);
            (_readyMain, _readySubscriber, _readyVersion) = (main, subscriber, version);
            _hasMissed = true;
        }

        await (subscriber ?? main!).AskAsync(["PING"], timeout, cancellationToken).ConfigureAwait(false);

        // Until it was told once, it stays true: the sign of life may not come.
        bool hasMissed = _hasMissed;
        _hasMissed = false;
        return hasMissed;
    }

    /// <summary>What is heard from now on is not of interest.</summary>
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
                // Then the connection is gone, and the tracking with it.
            }
        }

        if (_subscriber is not null)
        {
            await _subscriber.DisposeAsync().ConfigureAwait(false);
        }
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
            RedisReply id = mode == ChannelMode.RedirectedTracking
                ? await subscriber.AskAsync(["CLIENT", "ID"], timeout, cancellationToken).ConfigureAwait(false)
                : await subscriber.AskAsync(["PING"], timeout, cancellationToken).ConfigureAwait(false);
            _subscriberId = id.Text;
            if (_subscriber!.Status is { IsResp3: false })
            {
                subscriber.BecomeSubscriber();
            }

            subscriber.SendUnanswered(["SUBSCRIBE", channel]);
        }

        if (mode == ChannelMode.PublishSubscribe)
        {
            return;
        }

        if (mode == ChannelMode.RedirectedTracking)
        {
            redirection = ["REDIRECT", _subscriberId!];
        }

        // Off first: prefixes add up, and may not overlap.
        await main!.AskAsync(s_off, timeout, cancellationToken).ConfigureAwait(false);
        await main.AskAsync(
            ["CLIENT", "TRACKING", "ON", .. redirection, "BCAST", "NOLOOP", .. prefixes.SelectMany(prefix => new RedisArgument[] { "PREFIX", prefix })],
            timeout,
            cancellationToken).ConfigureAwait(false);
    }
}
