// Receives changes through a multiplexer's subscription. The multiplexer restores a subscription by itself, without a word about the messages
// that were lost meanwhile, and several caches can share it. So this class finds out by itself what it may have missed.
//
//   Unknown --proof over the channel of changes--> Proven --another connection or server--> Unknown
//
//   I1  A proof is a message that this process publishes and receives itself. Each master publishes it, because each sends its own messages.
//   I2  In the state Proven, channel and probe are subscribed over the connection (ConnectionState) over which the last proof arrived. A
//       connection delivers in order, so all changes that a master published before the proof are in the queue when the proof arrives.
//   I3  From Unknown, the proof goes over the channel of changes, which proves that it is subscribed. All processes receive that message, so in
//       the state Proven the proofs go over a channel that only this process subscribes to.
//   I4  The queue is read under a lock (_drain), by the handler of the channel and before each heartbeat. So no change is between the queue and
//       the receivers when a heartbeat is reported.
using System.Net;
using Cairn.Redis.Cluster;
using Cairn.Redis.Invalidation;
using StackExchange.Redis;

namespace Cairn.Redis.StackExchange.Multiplexing;

internal sealed class MultiplexerChanges(MultiplexerAccess access, string channelName) : IChangeSource
{
    // A proof is shorter than the message of a change, so other processes ignore it.
    private const int ProofBytes = 12;

    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(1);

    private readonly RedisChannel _changes = RedisChannel.Literal(channelName);

    // The same slot of a Cluster as the channel, so that the multiplexer subscribes to both on one server.
    private readonly RedisChannel _probes = RedisChannel.Literal(HashSlot.Companion(string.Create(null, $"cairn:probe:{Guid.NewGuid():N}:"), channelName));
    private readonly long _self = BitConverter.ToInt64(Guid.NewGuid().ToByteArray());
    private readonly Lock _drain = new();
    private readonly Lock _gate = new();
    private ChangeChannel? _channel;
    private IConnectionMultiplexer? _multiplexer;
    private ChannelMessageQueue? _queue;
    private ConnectionState? _proven;
    private int _events;
    private int _round;
    private int _missingProofs;
    private TaskCompletionSource? _proofs;
    private volatile bool _isStopped;

    public void Start(ChangeChannel channel) => _channel = channel;

    public void Stop() => _isStopped = true;

    public async ValueTask<SourceState> TendAsync(IReadOnlyList<string> prefixes, int prefixVersion, CancellationToken cancellationToken)
    {
        IConnectionMultiplexer multiplexer = await access.ConnectAsync(cancellationToken).ConfigureAwait(false);
        if (_multiplexer is null)
        {
            _multiplexer = multiplexer;
            multiplexer.ConnectionFailed += OnConnectionEvent;
            multiplexer.ConnectionRestored += OnConnectionEvent;
        }

        ISubscriber subscriber = multiplexer.GetSubscriber();
        if (_queue is not { Completion.IsCompleted: false })
        {
            await SubscribeAsync(subscriber, cancellationToken).ConfigureAwait(false);
        }

        IServer[] masters = MultiplexerAccess.Masters(multiplexer);
        ConnectionState before = StateOf(multiplexer, subscriber, masters);
        bool isProven = before == _proven;
        _proven = null;
        await ProveAsync(isProven && before.IsOneConnection ? _probes : _changes, masters, cancellationToken).ConfigureAwait(false); // I3
        Drain();
        if (before != StateOf(multiplexer, subscriber, MultiplexerAccess.Masters(multiplexer)))
        {
            return SourceState.Changing;
        }

        _proven = before;
        return isProven ? SourceState.Live : SourceState.LiveAfterGap;
    }

    public async ValueTask DisposeAsync()
    {
        if (_multiplexer is null)
        {
            return;
        }

        _multiplexer.ConnectionFailed -= OnConnectionEvent;
        _multiplexer.ConnectionRestored -= OnConnectionEvent;
        try
        {
            await UnsubscribeAsync(_multiplexer.GetSubscriber()).ConfigureAwait(false);
        }
        catch (Exception failure) when (failure is ObjectDisposedException || Translation.ExceptionOf(failure) is not null)
        {
            // The connection is lost, or the application has disposed of the multiplexer: its subscriptions have ended with it.
        }
    }

    private static ConnectionState StateOf(IConnectionMultiplexer multiplexer, ISubscriber subscriber, IServer[] masters, RedisChannel changes, RedisChannel probes, int events)
    {
        ServerCounters counters = multiplexer.GetCounters();
        return new ConnectionState(
            subscriber.SubscribedEndpoint(changes),
            subscriber.SubscribedEndpoint(probes),
            counters.Interactive.SocketCount + counters.Subscription.SocketCount,
            events,
            string.Join(' ', masters.Select(master => master.EndPoint.ToString()).Order(StringComparer.Ordinal)));
    }

    private ConnectionState StateOf(IConnectionMultiplexer multiplexer, ISubscriber subscriber, IServer[] masters) =>
        StateOf(multiplexer, subscriber, masters, _changes, _probes, Volatile.Read(ref _events));

    private async ValueTask SubscribeAsync(ISubscriber subscriber, CancellationToken cancellationToken)
    {
        _proven = null;
        _queue = await MultiplexerAccess.TranslatedAsync(() => subscriber.SubscribeAsync(_changes), cancellationToken).ConfigureAwait(false);
        await MultiplexerAccess.TranslatedAsync(
            async () =>
            {
                // A second subscription to the channel within this process: it calls the handler after the message is in the queue.
                await subscriber.SubscribeAsync(_changes, OnQueued).ConfigureAwait(false);
                await subscriber.SubscribeAsync(_probes, OnProbe).ConfigureAwait(false);
                return true;
            },
            cancellationToken).ConfigureAwait(false);
    }

    private async Task UnsubscribeAsync(ISubscriber subscriber)
    {
        await subscriber.UnsubscribeAsync(_probes, OnProbe).ConfigureAwait(false);
        await subscriber.UnsubscribeAsync(_changes, OnQueued).ConfigureAwait(false);
        if (_queue is not null)
        {
            await _queue.UnsubscribeAsync().ConfigureAwait(false);
        }
    }

    // Lets each master publish a proof, and waits until all have arrived (I1).
    private async ValueTask ProveAsync(RedisChannel over, IServer[] masters, CancellationToken cancellationToken)
    {
        byte[] proof = new byte[ProofBytes];
        Task arrived;
        lock (_gate)
        {
            BinaryPrimitives.WriteInt64LittleEndian(proof, _self);
            BinaryPrimitives.WriteInt32LittleEndian(proof.AsSpan(8), ++_round);
            _missingProofs = masters.Length;
            _proofs = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            arrived = _proofs.Task;
        }

        await MultiplexerAccess.TranslatedAsync(
            async () =>
            {
                await Task.WhenAll(masters.Select(master => master.ExecuteAsync("PUBLISH", over, proof))).WaitAsync(s_timeout, cancellationToken)
                    .ConfigureAwait(false);
                await arrived.WaitAsync(s_timeout, cancellationToken).ConfigureAwait(false);
                return true;
            },
            cancellationToken).ConfigureAwait(false);
    }

    private void OnQueued(RedisChannel channel, RedisValue message) => Drain();

    private void OnProbe(RedisChannel channel, RedisValue message) => OnProof(((ReadOnlyMemory<byte>)message).Span);

    private void OnConnectionEvent(object? sender, ConnectionFailedEventArgs connection)
    {
        Interlocked.Increment(ref _events);
        _channel!.Wake();
    }

    // I4
    private void Drain()
    {
        lock (_drain)
        {
            while (_queue is { } queue && queue.TryRead(out ChannelMessage message))
            {
                ReadOnlySpan<byte> bytes = ((ReadOnlyMemory<byte>)message.Message).Span;
                if (bytes.Length == ProofBytes)
                {
                    OnProof(bytes);
                }
                else if (!_isStopped)
                {
                    _channel!.OnMessage(bytes);
                }
            }
        }
    }

    private void OnProof(ReadOnlySpan<byte> proof)
    {
        lock (_gate)
        {
            if (proof.Length == ProofBytes
                && BinaryPrimitives.ReadInt64LittleEndian(proof) == _self
                && BinaryPrimitives.ReadInt32LittleEndian(proof[8..]) == _round
                && --_missingProofs == 0)
            {
                _proofs!.TrySetResult();
            }
        }
    }

    /// <summary>The connections over which messages arrive. Two equal states have the same connections.</summary>
    /// <param name="Changes">The server of the channel of changes; null if it is not subscribed at the moment.</param>
    /// <param name="Probes">The server of the channel of proofs.</param>
    /// <param name="Sockets">The number of connections that the multiplexer has made so far.</param>
    /// <param name="Events">The number of connections that were lost or restored so far, as the multiplexer reported them.</param>
    /// <param name="Masters">The servers that publish.</param>
    private sealed record ConnectionState(EndPoint? Changes, EndPoint? Probes, long Sockets, int Events, string Masters)
    {
        public bool IsOneConnection => Changes is not null && Changes.Equals(Probes);
    }
}
